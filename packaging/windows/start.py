"""The first module of both frozen programs: see gpumon_gui/__main__.py."""

import sys

from gpumon_gui.__main__ import main

sys.exit(main())
