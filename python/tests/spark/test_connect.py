"""A session of Spark Connect, whose server is on this machine."""
import pytest
from block_methods import BLOCKS
from same_bytes import BALL, METHODS, alone, check_blocks, check_persons
from sessions import session

import cloister
from cloister import distributed


@pytest.fixture(scope="module")
def people(tmp_path_factory, files):
    with session(tmp_path_factory.mktemp("connect"), "local[2]", remote=True) as made:
        yield made.read.parquet(str(files))


@pytest.mark.parametrize("method", METHODS)
def test_the_bytes_of_one_process(method, frame, people):
    assert ".connect." in type(people).__module__
    made = distributed.run(method, people, **BALL, **METHODS[method])
    assert made.to_json() == alone(method, frame, **METHODS[method])


@pytest.mark.parametrize("method", BLOCKS)
def test_blocks_are_those_of_one_process(method, people):
    check_blocks(method, people)


def test_persons_are_in_one_partition_each(people, tmp_path):
    ledger = tmp_path / "study.ledger"
    cloister.Ledger(ledger, create=True).declare("visits", epsilon=5, delta=1e-5)
    check_persons(people, ledger)


@pytest.mark.filterwarnings("ignore::cloister.NotPrivateWarning")
def test_an_estimator_takes_a_data_frame(frame, people):
    fitted, plain = (cloister.PrivateKMeans(2, epsilon=1, norm=2, random_state=3).fit(data)
                     for data in (people, frame))
    assert list(fitted.feature_names_in_) == ["a", "b", "c"]
    assert fitted.release_.info["method"] in ("density", "local", "lloyd", "grid")
    assert plain.n_features_in_ == fitted.n_features_in_


def test_what_a_worker_refuses_comes_in_its_own_words(people):
    with pytest.raises(cloister.CloisterError, match="'d'"):
        distributed.run("kmeans/lloyd", people.selectExpr("*", "'text' as d"), clusters=2, **BALL)
