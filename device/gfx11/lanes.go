package gfx11

import (
	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/op"
)

// Registrations are the device's offers for one kind of operation. They are the
// same on every device of this kind.
func (d *Device) Registrations(k op.Kind) []device.Registration {
	switch k {
	case op.GetRows:
		return one("get_rows", getRows)
	case op.SelectRows:
		return one("select_rows", selectRows)
	case op.RMSNorm:
		return []device.Registration{
			fused("rms_norm.next_q8", 1, normNext),
			single("rms_norm", 0, rmsNorm),
		}
	case op.MulMat:
		return []device.Registration{
			fused("mul_mat.swiglu", 1, gateUp),
			single("mul_mat.vec", 0, matVec),
		}
	case op.RopeTable:
		return one("rope_table", ropeTable)
	case op.Rope:
		return []device.Registration{
			fused("rope.kv_store", 1, ropeStore),
			single("rope", 0, rope),
		}
	case op.KVStore:
		return one("kv_store", kvStore)
	case op.Attention:
		return attention()
	case op.Add:
		return []device.Registration{
			fused("add.rms_norm.next_q8", 1, addNormNext),
			single("add", 0, add),
		}
	case op.SwiGLU:
		return []device.Registration{
			fused("swiglu.next_q8", 1, swiGLUNext),
			single("swiglu", 0, swiGLU),
		}
	case op.MoERoute:
		return one("moe_route", moeRoute)
	case op.MulMatID:
		return []device.Registration{
			fused("mul_mat_id.swiglu", 1, gateUp),
			single("mul_mat_id.vec", 0, matVec),
		}
	case op.MoESum:
		return one("moe_sum", moeSum)
	}
	return nil
}

// matcher is the Match of a registration that runs one operation.
type matcher = func(c *device.Compile, o *op.Op) ([]device.Launch, *device.Decline)

// single is a registration that runs one operation.
func single(name string, priority int, m matcher) device.Registration {
	return fused(name, priority, func(s *device.Site) (*device.Match, *device.Decline) {
		ls, decline := m(s.Compile, s.Op())
		if decline != nil {
			return nil, decline
		}
		return &device.Match{Launches: ls, Covers: 1}, nil
	})
}

// fused is a registration that runs several.
func fused(name string, priority int, m func(*device.Site) (*device.Match, *device.Decline)) device.Registration {
	return device.Registration{Name: name, Priority: priority, Match: m}
}

func one(name string, m matcher) []device.Registration {
	return []device.Registration{single(name, 0, m)}
}
