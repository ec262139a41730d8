"""Another number of clusters from a release, without data: release.cut."""
import json

import cloister
import numpy as np
import pytest

pytestmark = pytest.mark.filterwarnings("ignore::cloister.NotPrivateWarning")


@pytest.fixture(scope="module")
def release():
    rng = np.random.default_rng(4)
    places = rng.uniform(-.6, .6, (5, 3))
    rows = places[rng.integers(0, 5, 8000)] + .03 * rng.standard_normal((8000, 3))
    model = cloister.PrivateKMeans(8, method="density", epsilon=1, norm=1, random_state=1,
                                   relation="add-remove", rows=8000)
    return model.fit(rows).release_


def test_gives_the_bytes_of_the_command_for_each_number(release):
    for clusters in (1, 3, 5, 12):
        cut = release.cut(clusters)
        assert cut["centers"].shape == (clusters, 3)
        assert cut["sizes"].shape == cut["uncertainty"].shape == (clusters,)
        assert cut == cloister.Release.from_json(release.to_json()).cut(clusters)
        assert cut == cut.cut(clusters)
    assert cut.info["derived"]["epsilon"] == 0
    assert json.loads(release.to_json())["answers"] == cut.info["answers"]
    assert (cut.center_noise > 0).all()


def test_chooses_the_number_as_a_run_does(release):
    assert release.cut("auto")["centers"].shape == (5, 3)
    assert len(release.cut("auto", explain=0.5)["centers"]) < 5
    smallest = release.cut("auto", explain=0.999, smallest=700)["sizes"]
    assert smallest.min() > 690


@pytest.mark.parametrize(("clusters", "options", "said"), [
    (0, {}, "clusters must be at least 1, not 0"),
    (100_000, {}, "clusters must be between 1 and [0-9]+, not 100000"),
    ("most", {}, "clusters must be a number or 'auto'"),
    (3, {"explain": 0.8}, "explain chooses the number of clusters"),
    ("auto", {"explain": 2}, "explain must be between 0 and 1, not 2"),
    ("auto", {"clusters_at_most": 65}, "clusters_at_most must be between 1 and 64, not 65"),
])
def test_refuses_what_it_cannot_cut(release, clusters, options, said):
    with pytest.raises(cloister.exceptions.ArgumentError, match=said):
        release.cut(clusters, **options)


def test_refuses_a_release_without_answers():
    model = cloister.PrivateKMeans(2, method="lloyd", epsilon=1, norm=1, random_state=1)
    rows = np.random.default_rng(1).uniform(-.5, .5, (900, 2))
    with pytest.raises(cloister.exceptions.UnsupportedError, match="holds no answers"):
        model.fit(rows).release_.cut(2)
