package ioctl

import (
	"os"
	"testing"
	"unsafe"
)

func TestANumberIsAsTheKernelsHeadersHaveIt(t *testing.T) {
	// AMDKFD_IOC_SMI_EVENTS: _IOWR('K', 0x1F, struct of two 32-bit numbers).
	if got := ReadWrite('K', 0x1f, 8); got != 0xc0084b1f {
		t.Errorf("%#x", got)
	}
}

func TestAFileThatIsNoDeviceRefuses(t *testing.T) {
	f, err := os.Create(t.TempDir() + "/x")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var arg [2]uint32
	if err := Call(f, ReadWrite('K', 0x1f, 8), unsafe.Pointer(&arg)); err == nil {
		t.Error("no error")
	}
}
