"""Knows: which tests cannot run by Windows Python, and why. Must not know: how they are skipped (tests/conftest.py).

Each entry is the beginning of a test's id. Tests that say so themselves (``skipif``) are not repeated here. What stands
under WINE runs on a real Windows.
"""

from __future__ import annotations

_KERNEL_FILES = "a machine made of Linux' kernel files, whose names Windows does not allow"
_HOUSE = "a check of the house with tools of the development environment, the same on every system"
_NO_CPU_TIME = "Wine does not count other processes' CPU time"
_SOCKETS = "about X11 and Wayland, which are reached by Unix sockets"

#: Not on any Windows.
WINDOWS: dict[str, str] = {
    "tests/unit/test_app_arguments.py::test_a_display_that_is_not_there[:4093]": _SOCKETS,
    "tests/unit/test_app_arguments.py::test_a_wayland_display_that_is_not_there": _SOCKETS,
    "tests/unit/test_house.py::test_the_import_contracts_hold": _HOUSE,
    "tests/unit/test_house.py::test_a_planted_import_breaks_its_contract": _HOUSE,
    "tests/unit/test_package.py": _HOUSE,
    "tests/unit/test_nvml_bus.py::test_linux_": _KERNEL_FILES,
    "tests/unit/test_nvml_source.py::test_a_card_of_another_driver_neither_shows_up_nor_disturbs": _KERNEL_FILES,
    "tests/unit/test_nvml_source.py::test_a_card_passed_through_to_a_guest_does_not_look_asleep": _KERNEL_FILES,
    "tests/unit/test_nvml_source.py::test_suspended_cards_without_a_driver_do_not_hide_that": _KERNEL_FILES,
    "tests/unit/test_nvml_source.py::test_in_a_container_the_cards_of_others_neither_show_up": _KERNEL_FILES,
    "tests/unit/test_nvml_source.py::test_a_new_card_on_the_bus_is_taken_up": _KERNEL_FILES,
    "tests/unit/test_nvml_source.py::test_a_card_put_in_the_place_of_another": _KERNEL_FILES,
    "tests/unit/test_nvml_source.py::test_a_sleeping_card_beside_a_busy_one_is_not_touched": _KERNEL_FILES,
    "tests/unit/test_nvml_source.py::test_a_card_that_could_sleep_is_let_go_unless": _KERNEL_FILES,
    "tests/unit/test_nvml_source.py::test_a_sleeping_card_is_woken_for_who_wants_it": _KERNEL_FILES,
    "tests/unit/test_nvml_source.py::test_the_bus_knows_a_card_that_was_lost_before_it_said": _KERNEL_FILES,
    "tests/unit/test_synthetic.py::test_the_user_sees_what_is_so[laptop-hybrid]": _KERNEL_FILES,
    "tests/unit/test_synthetic.py::test_the_user_sees_what_is_so[mixed-vendors]": _KERNEL_FILES,
    "tests/unit/test_synthetic.py::test_the_user_sees_what_is_so[driver-mismatch]": _KERNEL_FILES,
    "tests/unit/test_synthetic.py::test_the_user_sees_what_is_so[amd-": _KERNEL_FILES,
    "tests/unit/test_synthetic.py::test_the_user_sees_what_is_so[intel-only]": _KERNEL_FILES,
    "tests/unit/test_synthetic.py::test_no_machine_does_less_than_its_programs[laptop-hybrid]": _KERNEL_FILES,
    "tests/unit/test_synthetic.py::test_no_machine_does_less_than_its_programs[mixed-vendors]": _KERNEL_FILES,
    "tests/unit/test_synthetic.py::test_no_machine_does_less_than_its_programs[driver-mismatch]": _KERNEL_FILES,
    "tests/unit/test_synthetic.py::test_no_machine_does_less_than_its_programs[amd-": _KERNEL_FILES,
    "tests/unit/test_synthetic.py::test_no_machine_does_less_than_its_programs[intel-only]": _KERNEL_FILES,
    "tests/unit/test_synthetic.py::test_a_sleeping_gpu_is_neither_woken_nor_kept_awake[laptop-hybrid]": _KERNEL_FILES,
    "tests/unit/test_synthetic.py::test_the_program_on_the_laptops_gpu_is_seen_while_it_runs": _KERNEL_FILES,
    "tests/unit/test_synthetic.py::test_kernel_files_vanish_with_the_machine": _KERNEL_FILES,
}

#: Not under Wine.
WINE: dict[str, str] = {
    "tests/unit/test_host.py::test_cpu_is_a_fraction_of_one_core": _NO_CPU_TIME,
    "tests/unit/test_cli_watch.py::test_a_command_is_seen_with_its_children_before_it_touches_a_gpu": _NO_CPU_TIME,
}


def reason(test_id: str, *, wine: bool) -> str | None:
    """Why this test cannot run on Windows; None when it can."""
    table = {**WINDOWS, **(WINE if wine else {})}
    return next((why for start, why in table.items() if test_id.startswith(start)), None)
