"""The scripted worker as a program."""

import sys

if not __package__:  # run by path: the folder above is where the parts of the program are found
    sys.path.append(__file__.rpartition("/scripted_worker/")[0])
    __package__ = "scripted_worker"

from .program import main

main(sys.argv[1])
