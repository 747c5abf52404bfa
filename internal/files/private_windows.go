package files

// CheckOwner finds no fault: Windows gives each user a directory that others cannot write to.
func CheckOwner(string) error { return nil }

// CheckMode finds no fault, for the same reason.
func CheckMode(string) error { return nil }
