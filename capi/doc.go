// Command capi is libinfeed.so: the only place where Go meets Python.
//
// infeed.h is the contract. The shim (shim.c) does what must not enter Go; every
// other call is forwarded to an export here, which is one line through [guard].
// What a handle names is kept in a table (handle.go); the shim has the half of it
// that concerns waiting.
package main

/*
#cgo CFLAGS: -std=gnu11 -Wall
#include "layout.h"
*/
import "C"

func main() {}
