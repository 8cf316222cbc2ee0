"""The schedule of a translated block of vc, by hand: known stalls, and tests at run time."""

from __future__ import annotations

from macaw.emu.vector.fast.schedule import Issue, find_schedule

LATE = 20  # cycles until a load's result is ready


def load(place: int, base: int) -> Issue:
    return Issue((place, base), (place,), LATE, 1)


def add(place: int, *sources: int) -> Issue:
    return Issue((place, *sources), (), 1, 1)


def branch(*sources: int, back: int | None = 2) -> Issue:
    return Issue(sources, (), 1, 1, back)


def test_a_loop_waits_for_its_own_loads_for_a_known_time():
    loop = [load(5, 10), load(6, 11), add(12, 5), add(12, 6), add(10), branch(10)]
    schedule = find_schedule(loop, is_timed=True)
    assert schedule.tested == ((),) * 6
    # The first sum waits for the load of cycle 0, which is ready in cycle 20, from cycle 2 on.
    assert schedule.stalls == (0, 0, 18, 0, 0, 0)
    assert schedule.demanded == (5, 6, 10, 11, 12)


def test_the_second_of_two_loads_may_make_the_longer_wait():
    schedule = find_schedule([load(5, 10), load(6, 10), add(7, 6), add(7, 5), branch(7)], True)
    assert schedule.stalls == (0, 0, 19, 0, 0)


def test_a_result_that_is_late_for_the_next_pass_is_tested():
    """The block tests at run time whether a load at the end of a pass is ready in the next one."""
    loop = [add(12, 5), add(10), load(5, 10), branch(10)]
    schedule = find_schedule(loop, is_timed=True)
    assert schedule.tested == ((5,), (), (), ())
    assert schedule.stalls == (0, 0, 0, 0)
    assert schedule.demanded == (10, 12)


def test_after_a_test_the_earlier_results_are_not_known():
    """After a run-time test, which may wait, the block also tests the results of older loads."""
    block = [load(6, 10), add(12, 5), add(12, 6), load(5, 10)]
    schedule = find_schedule(block, is_timed=True)
    assert schedule.tested == ((6,), (5,), (6,), ())
    assert schedule.stalls == (0, 0, 0, 0)


def test_without_a_branch_back_late_results_are_tested_where_the_block_begins():
    schedule = find_schedule([add(12, 5), load(5, 10), add(12, 5)], is_timed=True)
    assert schedule.tested == ((5,), (), ())
    assert schedule.stalls == (0, 0, LATE - 1)
    assert schedule.demanded == (10, 12)


def test_a_block_that_counts_tests_all_late_results():
    loop = [load(5, 10), add(12, 5), add(12, 5), branch(10)]
    schedule = find_schedule(loop, is_timed=False)
    assert schedule.tested == ((5,), (5,), (), ())
    assert schedule.stalls == (0, 0, 0, 0)
    assert schedule.demanded == (10, 12)


def test_of_two_branches_back_both_must_find_a_result_ready():
    loop = [load(5, 10), branch(10, back=2), add(12, 5), branch(10, back=2)]
    schedule = find_schedule(loop, is_timed=True)
    assert schedule.tested[0] == (5,)
    assert schedule.demanded == (10, 12)
    longer = [load(5, 10), branch(10, back=LATE), add(12, 5), branch(10, back=2)]
    assert find_schedule(longer, is_timed=True).demanded == (5, 10, 12)
