package main

func packAVX2() {}
