package kernel

// All is one value of each kernel's arguments: the list of kernels.
func All() []Args {
	return []Args{
		RMSNorm{},
		RMSNormShort{},
		RMSNormQ8{},
		AddRMSNorm{},
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
		SwiGLUQ8{},
		MoESum{},
		MoERoute{},
		Argmax{},
		AttentionProduce{},
		AttentionReduceDirect{},
		AttentionReduceCooperative{},
		AttentionReduceMultipass{},
		AttentionReduceDirectQ8{},
		AttentionReduceCooperativeQ8{},
		AttentionReduceMultipassQ8{},
		AttentionSerial{},
		AttentionFused{},
		AttentionFusedQ8{},
	}
}
