# trial.sh MACHINE SEED CASE: checks what a case writes on a quiet machine or a pressed one.
case $1 in
quiet) how='--mode coherent --schedule in-order' ;;
pressed) how='--mode relaxed --schedule random --preempt 8' ;;
esac
# shellcheck disable=SC2086 # several flags
exec holdfast check --tool memcheck $how --seed "$2" "docs/examples/handover/$3.toml"
