package trace

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Request is a stretch of time that went well or badly.
type Request struct {
	ID         string
	Start, End int64 // nanoseconds of the requests' clock
	Bad        bool  // divergent, or failed
}

// Requests are requests on one clock.
type Requests struct {
	List  []Request
	Clock string // "boot" or "wall", or "" if the file does not say
	// Skipped is how many records have no times or are not of a request.
	Skipped int
}

// requestRecord is a line of what lab probe writes.
type requestRecord struct {
	ID        any      `json:"id"`
	Kind      string   `json:"kind"`
	Start     *moment  `json:"start"`
	End       *moment  `json:"end"`
	Divergent *bool    `json:"divergent"`
	Faces     []string `json:"faces"`
}

type moment struct {
	Wall string `json:"wall"`
	Boot int64  `json:"boot"`
}

// ReadRequests reads requests: what lab probe --requests writes (JSON, a line each), or CSV
// with a header that has start, end and bad (or divergent), times in nanoseconds, and
// id if it likes. A last line that is cut is left out.
func ReadRequests(name string, r io.Reader) (*Requests, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	case len(b) > maxFile:
		return nil, fmt.Errorf("%s: trace: more than %d MiB", name, maxFile>>20)
	}
	rs := &Requests{}
	if bytes.HasPrefix(bytes.TrimSpace(b), []byte("{")) {
		err = rs.readJSON(b)
	} else {
		err = rs.readCSV(b)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(rs.List) == 0 {
		return nil, fmt.Errorf("%s: trace: no request with a start and an end", name)
	}
	return rs, nil
}

func (rs *Requests) readJSON(b []byte) error {
	in := bufio.NewScanner(bytes.NewReader(b))
	in.Buffer(make([]byte, 1<<14), 16<<20)
	cut := len(b) > 0 && b[len(b)-1] != '\n'
	var bad error
	for n := 1; in.Scan(); n++ {
		if bad != nil {
			return bad
		}
		if len(bytes.TrimSpace(in.Bytes())) == 0 {
			continue
		}
		var r requestRecord
		if err := json.Unmarshal(in.Bytes(), &r); err != nil {
			bad = fmt.Errorf("line %d: trace: %w", n, err) // unless it is the last, and cut
			continue
		}
		if r.Start == nil || r.End == nil || r.Start.Boot == 0 || r.End.Boot < r.Start.Boot || r.Kind != "" && r.Kind != "request" {
			rs.Skipped++
			continue
		}
		rs.Clock = "boot"
		rs.List = append(rs.List, Request{
			ID: fmt.Sprint(r.ID), Start: r.Start.Boot, End: r.End.Boot,
			Bad: r.Divergent != nil && *r.Divergent || len(r.Faces) > 0,
		})
	}
	if bad != nil && !cut {
		return bad
	}
	return in.Err()
}

func (rs *Requests) readCSV(b []byte) error {
	c := csv.NewReader(bytes.NewReader(b))
	c.TrimLeadingSpace, c.Comment = true, '#'
	header, err := c.Read()
	if err != nil {
		return fmt.Errorf("trace: requests: %w", err)
	}
	at := map[string]int{}
	for i, h := range header {
		name := plainName(h)
		switch name {
		case "divergent", "fault", "failed":
			name = "bad"
		case "t0", "startns", "starttimestamp":
			name = "start"
		case "t1", "endns", "endtimestamp":
			name = "end"
		}
		at[name] = i
	}
	for _, name := range []string{"start", "end", "bad"} {
		if _, ok := at[name]; !ok {
			return fmt.Errorf("trace: requests: no column %s among %s", name, strings.Join(header, ", "))
		}
	}
	for line := 2; ; line++ {
		f, err := c.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("trace: requests: %w", err)
		}
		start, err1 := strconv.ParseInt(f[at["start"]], 10, 64)
		end, err2 := strconv.ParseInt(f[at["end"]], 10, 64)
		bad, err3 := strconv.ParseBool(strings.ToLower(f[at["bad"]]))
		if err := errors.Join(err1, err2, err3); err != nil {
			return fmt.Errorf("trace: requests: record %d: %w", line, err)
		}
		if end < start {
			return fmt.Errorf("trace: requests: record %d: ends at %d, before its start at %d", line, end, start)
		}
		r := Request{ID: fmt.Sprint(line - 1), Start: start, End: end, Bad: bad}
		if i, ok := at["id"]; ok {
			r.ID = f[i]
		}
		rs.List = append(rs.List, r)
	}
}
