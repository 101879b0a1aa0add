package lab

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// environment is what is written down of where an experiment runs: its programs
// and files by their hashes, the system, the driver, who else holds the device.
func (e *Experiment) environment() ([]Field, error) {
	list := []Field{{"system", runtime.GOOS + "/" + runtime.GOARCH}, {"processors", fmt.Sprint(runtime.NumCPU())}}
	if host, err := os.Hostname(); err == nil {
		list = append(list, Field{"host", host})
	}
	for _, f := range []struct{ key, glob string }{
		{"kernel", "/proc/sys/kernel/osrelease"},
		{"amdgpu driver", "/sys/module/amdgpu/version"},
		{"amdgpu source", "/sys/module/amdgpu/srcversion"},
		{"power mode", "/sys/class/drm/card*/device/power_dpm_force_performance_level"},
		{"gtt size", "/sys/class/drm/card*/device/mem_info_gtt_total"},
		{"governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"},
	} {
		paths, _ := filepath.Glob(f.glob)
		for _, p := range paths {
			if b, err := os.ReadFile(p); err == nil {
				list = append(list, Field{f.key, strings.TrimSpace(string(b))})
			}
		}
	}
	if who := holders("/dev/kfd"); len(who) > 0 {
		list = append(list, Field{"holders of /dev/kfd", strings.Join(who, ", ")})
	}
	files := slices.Clone(e.Files)
	var programs []string
	for _, a := range e.Arms {
		programs = append(programs, a.Command[0])
	}
	for _, p := range e.Pressures {
		programs = append(programs, p.Command[0])
	}
	for _, p := range programs {
		if path, err := exec.LookPath(p); err == nil && !slices.Contains(files, path) {
			files = append(files, path)
		}
	}
	for _, path := range files {
		h, err := hashFile(path)
		if err != nil {
			return nil, fmt.Errorf("lab: %w", err)
		}
		list = append(list, Field{"sha256 " + path, h})
	}
	return list, nil
}

// holders are the processes that have a device open, as far as they may be seen.
func holders(device string) (who []string) {
	links, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, l := range links {
		if to, err := os.Readlink(l); err != nil || to != device {
			continue
		}
		pid := strings.Split(l, "/")[2]
		name, _ := os.ReadFile("/proc/" + pid + "/comm")
		if s := strings.TrimSpace(string(name)) + " (" + pid + ")"; !slices.Contains(who, s) {
			who = append(who, s)
		}
	}
	return who
}
