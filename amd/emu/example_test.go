package emu_test

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/amd/hsaco"
)

// A kernel of two arguments, a buffer and a number, run for 64 work-items.
func Example() {
	object, err := hsaco.Open("../hsaco/testdata/args.hsaco")
	if err != nil {
		fmt.Println(err)
		return
	}
	device, err := emu.New(emu.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	module, err := device.Load(object)
	if err != nil {
		fmt.Println(err)
		return
	}
	kernel, err := module.Kernel("scratch")
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := device.Alloc("out", 64*4, emu.Placement{})
	if err != nil {
		fmt.Println(err)
		return
	}
	grid, workgroup := [3]uint32{64, 1, 1}, [3]uint32{64, 1, 1}
	args, err := kernel.Pack(grid, workgroup, out, int32(3))
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := device.Run(context.Background(), emu.Dispatch{Kernel: kernel, Grid: grid, Workgroup: workgroup, Kernarg: args.Kernarg})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Waves, "waves; the last work-item stores", binary.LittleEndian.Uint32(out.Data[63*4:]))

	// Output: 2 waves; the last work-item stores 12
}

// A kernel that stores past the end of its buffer.
func ExampleFault() {
	object, err := hsaco.Open("../hsaco/testdata/args.hsaco")
	if err != nil {
		fmt.Println(err)
		return
	}
	device, _ := emu.New(emu.Config{})
	module, err := device.Load(object)
	if err != nil {
		fmt.Println(err)
		return
	}
	kernel, err := module.Kernel("scratch")
	if err != nil {
		fmt.Println(err)
		return
	}
	out, _ := device.Alloc("out", 40*4, emu.Placement{}) // 64 work-items store to it
	grid := [3]uint32{64, 1, 1}
	args, err := kernel.Pack(grid, grid, out, int32(3))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = device.Run(context.Background(), emu.Dispatch{Kernel: kernel, Grid: grid, Workgroup: grid, Kernarg: args.Kernarg})
	if fault, ok := err.(*emu.Fault); ok {
		fmt.Printf("%v fault: wave %d lane %d stores %d bytes from the start of %s\n", fault.Kind, fault.Wave, fault.Lane, fault.Addr-out.Addr, out.Name)
	}

	// Output: memory fault: wave 1 lane 8 stores 160 bytes from the start of out
}
