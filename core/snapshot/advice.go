package snapshot

import (
	"errors"
	"fmt"

	"infeed/core/errs"
)

// gone is said of files that are not there and should be.
const gone = "it is not there: it was removed, or something else was stored in its place meanwhile"

// advice is what to do where a file is damaged, and where it is gone.
type advice struct{ damaged, gone string }

// ofSaved is about what Save wrote.
var ofSaved = advice{"restore it from a copy, or store it again", "load it again, and store it again if it stays away"}

// ofKept is about what Keep wrote in a folder.
func ofKept(folder string) advice {
	anew := fmt.Sprintf("remove %q: the next pass makes it anew", folder)
	return advice{"restore it from a copy, or " + anew, "begin the pass again; if it stays away, " + anew}
}

// to adds the advice to an error that is of damage.
func (a advice) to(err error) error {
	var e *errs.Error
	if a.damaged == "" || !errors.As(err, &e) || e.Kind != errs.DataLoss {
		return err
	}
	with, more := *e, a.damaged
	if e.Text == gone {
		more = a.gone
	}
	with.Text += "; " + more
	return &with
}
