package kernel

// All is one value of each kernel's arguments: the list of kernels.
func All() []Args {
	return []Args{
		RMSNorm{},
		QuantizeQ8_1{},
		GetRowsF32{},
		GetRowsF16{},
		GetRowsQ8_0{},
		GetRowsQ4_K{},
		GetRowsQ6_K{},
		SelectRows{},
		RopeTable{},
		Rope{},
		KVStore{},
		RopeKVStore{},
		Add{},
		SwiGLU{},
		MoESum{},
		MoERoute{},
		Argmax{},
	}
}
