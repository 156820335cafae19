"""What is run, one file a library. Each is imported only in a process whose interpreter has that library.

A contender is a context manager that prepares the work and gives a function that does
it once; that function returns the value, or the value and a note.
"""
