# flaky.sh RATE TRIAL: fails in RATE of a thousand trials. Which ones is a hash of
# the trial's number, so that a test can know it.
x=$2
x=$(( ((x ^ (x >> 16)) * 73244475) & 4294967295 ))
x=$(( ((x ^ (x >> 16)) * 73244475) & 4294967295 ))
x=$(( x ^ (x >> 16) ))
[ $(( x % 1000 )) -ge "$1" ]
