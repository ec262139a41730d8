"""What Python can hand over is read as it lies: the same rows, and no copy where it lies right."""
import sys

import numpy as np
import pytest
import scipy.sparse

import cloister
from cloister import _table
from cloister._native import ffi, lib


def test_every_kind_of_number_is_wrapped():
    for kind in "f8 f4 i8 i4 i2 i1 u8 u4 u2 u1 b1".split():
        array = np.array([[0, 1, 2], [1, 0, 1]]).astype(kind)
        table = _table.as_table(array)
        assert (table.rows, table.cols, table.names) == (2, 3, None)


def test_what_lies_right_is_not_copied(tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, np.ones((4, 2)))
    mapped = np.load(path, mmap_mode="r")
    for array in (np.ones((4, 2)), np.ones((4, 2), order="F"), np.ones((8, 4))[::2, ::2],
                  np.ones((4, 2), dtype="f4"), mapped):
        kept = _table.from_array(array)._borrowed[0]
        assert np.shares_memory(kept, array)
    sparse = scipy.sparse.csr_array(np.eye(3))
    assert np.shares_memory(_table.from_sparse(sparse)._borrowed[1], sparse.data)


def test_what_does_not_is(rows):
    for array in (rows[::-1], rows.astype(">f8"), rows.astype("f2")):
        assert _table.from_array(array).rows == len(rows)


def test_sparse_rows_of_any_form_are_taken():
    dense = np.array([[0, 2.0, 0], [0, 0, 0], [1, 0, 3]])
    for form in (scipy.sparse.csr_matrix, scipy.sparse.csc_array, scipy.sparse.coo_array):
        assert _table.as_table(form(dense)).rows == 3
    double = scipy.sparse.csr_array((np.ones(3), [1, 1, 0], [0, 3]), shape=(1, 2))
    assert _table.as_table(double).cols == 2  # duplicates are added up
    wide = scipy.sparse.csr_array(dense)
    wide.indices, wide.indptr = wide.indices.astype("i8"), wide.indptr.astype("i8")
    assert _table.as_table(wide).rows == 3


@pytest.mark.parametrize("module", ["pandas", "polars", "pyarrow"])
def test_frames_come_by_arrow(module):
    library = pytest.importorskip(module)
    maker = library.table if module == "pyarrow" else library.DataFrame
    table = _table.as_table(maker({"age": [1, 2], "who": ["a", "b"], "pay": [1.5, None]}),
                            unit="who")
    assert (table.rows, table.names) == (2, ["age", "pay"])
    assert lib.clo_table_has_unit(table.pointer)
    with pytest.raises(cloister.FormatError, match="'who' does not hold numbers"):
        _table.as_table(maker({"who": ["a", "b"]}))
    with pytest.raises(cloister.ArgumentError, match="nobody"):
        _table.as_table(maker({"age": [1, 2]}), unit="nobody")


def test_frames_go_the_other_way_without_pyarrow(monkeypatch):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": [1.0, 2.0], "pay": [3.0, 4.0]})
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert _table.as_table(frame).names == ["age", "pay"]


def test_the_index_of_a_frame_is_no_column():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": [1.0, 2.0], "pay": [3.0, 4.0]}, index=[7, 9])
    assert _table.as_table(frame).names == ["age", "pay"]
    assert _table.as_table(frame.set_index("age")).names == ["pay"]


def test_persons_are_numbers_texts_or_whatever_compares():
    equal, nobody = _table.unit_numbers(["a", "b", "a"], 3)
    assert equal[0] == equal[2] != equal[1] and not nobody.any()
    assert _table.unit_numbers(np.array([5, -1, 5]), 3)[0][0] == 5
    with pytest.raises(cloister.ArgumentError, match="for each row"):
        _table.unit_numbers([1, 2], 3)
    # A row that names nobody ends nothing: it is left out, as in a file (test_odd_input.py).
    assert _table.unit_numbers(np.array([1.0, np.nan]), 2)[1].tolist() == [0, 1]


def test_what_is_no_table_is_refused():
    with pytest.raises(cloister.ArgumentError, match="two dimensions"):
        _table.as_table(np.ones(3))
    with pytest.raises(cloister.ArgumentError, match="Complex"):
        _table.as_table(np.ones((2, 2), dtype=complex))
    with pytest.raises(cloister.ArgumentError, match="missing must be one of"):
        _table.as_table(np.ones((2, 2)), missing="maybe")
    with pytest.raises(cloister.FormatError, match="row 2, column 1"):
        _table.as_table(np.array([[1.0], [np.nan]]), missing="refuse")
    with pytest.raises(cloister.ArgumentError, match="names a column"):
        _table.as_table(np.ones((2, 2)), unit="who")


def test_every_function_of_the_library_can_be_called():
    """The declarations are made from the headers: none may have been lost on the way."""
    names = [name for name in dir(lib) if name.startswith("clo_")]
    assert len(names) > 150
    assert {"clo_job_release", "clo_table_from_arrow", "clo_assign_rows"} <= set(names)
    assert ffi.sizeof("clo_error") == 764
