// Package report says what the trials of an experiment show, and no more: rates
// with intervals, differences between arms with exact tests, what the numbers of
// trials could not have shown, and a verdict only on what the experiment's file
// claimed before the first trial. It writes a terminal's table, Markdown, JSON,
// JUnit's XML, and one page of HTML that needs nothing else.
//
// What a trial was is decided when it is run, by package lab. Here it is only
// counted: faults over faults and clean trials. Incomplete trials, invalid ones
// and those out of regime are in no rate; they are listed with their reasons.
package report
