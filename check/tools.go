package check

// makers are the detectors that there are, by tool.
var makers = map[Tool]func(c *Checker, o Options) detector{
	Memcheck:  newMemcheck,
	Initcheck: newInitcheck,
	Racecheck: newRacecheck,
	Waitcheck: newWaitcheck,
	Synccheck: newSynccheck,
	Hostcheck: newHostcheck,
}
