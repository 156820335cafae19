"""Lets tests here import `operations`, the list of what must be native."""

import os
import sys

sys.path.insert(0, os.path.dirname(__file__))
