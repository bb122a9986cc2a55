package sandbox

import "golang.org/x/sys/unix"

func archOf() uint32 { return unix.AUDIT_ARCH_X86_64 }
