package emu

// Hooks of the memory system, which the scalar instructions and the scheduler
// call. In coherent mode an access is complete when its instruction is.

// noWait is a count that no wait can be for: the field's all ones, and more.
const noWait = 1 << 30

// waitcnt waits until at most vm loads, exp exports and lgkm LDS and scalar
// accesses are outstanding; noWait where the instruction does not ask.
func (w *wave) waitcnt(vm, exp, lgkm int) {}

// waitVscnt waits until at most n stores are outstanding.
func (w *wave) waitVscnt(n int) {}

// finish completes everything that the wave has outstanding, when it ends.
func (w *wave) finish() {}

// memoryBegin and memoryEnd are called once for each dispatch, before its first
// wave and after its last, also if it failed.
func (d *dispatch) memoryBegin() {}

func (d *dispatch) memoryEnd() {}
