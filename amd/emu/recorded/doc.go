// Package recorded keeps a dispatch in a folder, with all that it takes to run
// it again alone: the code object, the kernel's arguments, and every buffer it
// was given, at its address and with its content. So addresses can be compared
// instead of argued about, and one launch of a decode can be looked at without
// the other thousand.
//
// # Format
//
// A folder has dispatch.json and, beside it or one level up, a folder data of
// files named by the SHA-256 of their content, so that recorded launches that
// share a weight share its file:
//
//	{
//	  "format": 1,
//	  "data": "../data",
//	  "object": "4f1c…",              // the code object, in data
//	  "kernel": "attention_produce",
//	  "grid": [3072, 4, 1],            // work-items
//	  "workgroup": [256, 1, 1],
//	  "dynamic_lds": 0,                // bytes
//	  "kernarg": "0010…",              // the arguments' bytes, in hex
//	  "allocations": [{
//	    "name": "blk.0.attn.partial",
//	    "address": "0x7f0000012000", "bytes": 16640,
//	    "residency": "pageable", "read_only": false,
//	    "before": "9b74…",             // its content when the dispatch began, in data
//	    "after": "03ac…"               // and when it had ended; absent if read only or not known
//	  }]
//	}
//
// Allocations do not overlap. An allocation is what the kernel may touch of a
// buffer and no more: a transient in an arena is one, not the arena.
package recorded
