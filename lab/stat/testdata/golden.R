# Writes golden.tsv: what R says, for golden_test.go to compare with.
#   Rscript golden.R > golden.tsv
# Only R's own stats package is used; the power is summed here over all pairs of
# counts, with fisher.test for each.
num <- function(x) if (is.numeric(x)) sprintf("%.15g", x) else x
line <- function(...) cat(paste(sapply(list(...), num), collapse = "\t"), "\n", sep = "")
cat("# golden.R, ", R.version.string, "\n", sep = "")

rates <- list(c(0,1), c(1,1), c(0,2), c(1,2), c(5,5), c(0,6), c(1,6), c(0,14), c(1,8), c(8,8), c(2,37), c(1,25),
  c(9,87), c(9,63), c(0,20), c(1,29), c(15,148), c(81,263), c(17,354), c(0,1000), c(1,1000), c(999,1000),
  c(500,1000), c(0,1000000), c(1,1000000), c(50000,1000000), c(999999,1000000), c(123456,1000000))
for (conf in c(0.8, 0.95, 0.999)) for (r in rates) {
  k <- r[1]; n <- r[2]
  s <- suppressWarnings(prop.test(k, n, conf.level = conf, correct = FALSE))$conf.int
  line("wilson", k, n, conf, s[1], s[2])
  b <- binom.test(k, n, conf.level = conf)$conf.int
  line("clopper", k, n, conf, b[1], b[2])
  u <- if (k == n) 1 else qbeta(conf, k + 1, n - k)
  l <- if (k == 0) 0 else qbeta(1 - conf, k, n - k + 1)
  line("onesided", k, n, conf, l, u)
}

pairs <- list(c(5,5,0,2), c(0,6,1,6), c(9,87,9,63), c(12,87,14,63), c(1,8,8,8), c(2,37,1,25), c(6,14,0,14),
  c(3,4,1,4), c(10,12,2,17), c(0,1,0,1), c(0,1,1,1), c(0,10,0,20), c(10,10,0,20), c(56,70,48,80), c(1,32,2,32),
  c(0,354,34,177), c(50,1000,10,1000), c(500,1000,560,1000), c(17,3000,44,2500), c(100,1000000,150,1000000),
  c(50000,1000000,50500,1000000), c(3,1000000,0,20), c(20,20,999990,1000000))
for (p in pairs) {
  m <- matrix(c(p[1], p[2]-p[1], p[3], p[4]-p[3]), 2)
  f <- if (p[1]+p[3] == 0 || p[1]+p[3] == p[2]+p[4]) 1 else fisher.test(m)$p.value
  line("fisher", p[1], p[2], p[3], p[4], f)
  # Newcombe 1998, method 10, from the two score intervals.
  a <- suppressWarnings(prop.test(p[1], p[2], correct = FALSE))$conf.int
  b <- suppressWarnings(prop.test(p[3], p[4], correct = FALSE))$conf.int
  pa <- p[1]/p[2]; pb <- p[3]/p[4]; d <- pa - pb
  line("newcombe", p[1], p[2], p[3], p[4], d - sqrt((pa-a[1])^2+(b[2]-pb)^2), d + sqrt((a[2]-pa)^2+(pb-b[1])^2))
}

for (q in list(c(0,14,.05), c(3,60,.05), c(70,100,.5), c(2,3,.9), c(50000,1000000,.05), c(49000,1000000,.05), c(51000,1000000,.05), c(5,1000000,1e-5)))
  line("binomial", q[1], q[2], q[3], dbinom(q[1], q[2], q[3]), pbinom(q[1], q[2], q[3]))

exclude <- function(rate, conf, c) { n <- c + 1; while (pbinom(c, n, rate) > (1 - conf) * (1 + 1e-12)) n <- n + 1; n }
for (conf in c(.9, .95, .99)) for (rate in c(.5, .19, .1, .05, .01, .001)) for (c in c(0, 1, 3))
  line("exclude", rate, conf, c, exclude(rate, conf, c))

power <- function(p1, p2, n1, n2, alpha) {
  s <- 0
  for (i in 0:n1) for (j in 0:n2) {
    w <- dbinom(i, n1, p1) * dbinom(j, n2, p2)
    if (w > 1e-18 && i + j > 0 && i + j < n1 + n2 &&
        fisher.test(matrix(c(i, n1-i, j, n2-j), 2), conf.int = FALSE)$p.value <= alpha) s <- s + w
  }
  s
}
for (q in list(c(.5,.9,20,20,.05), c(.125,1,8,8,.05), c(.05,.01,60,60,.05), c(.2,.02,40,40,.05), c(.2,.02,40,40,.01),
    c(.4,.1,30,12,.05), c(.1,.1,25,25,.05), c(.3,0,14,14,.05)))
  line("power", q[1], q[2], q[3], q[4], q[5], power(q[1], q[2], q[3], q[4], q[5]))

between <- function(p1, p2, alpha, goal) { n <- 1; while (power(p1, p2, n, n, alpha) < goal) n <- n + 1; n }
for (q in list(c(.9,.1,.05,.8), c(.5,.1,.05,.8), c(1,.125,.05,.95), c(.4,.05,.05,.8), c(.6,.2,.01,.9)))
  line("between", q[1], q[2], q[3], q[4], between(q[1], q[2], q[3], q[4]))

for (p in list(c(.01,.02,.03,.04), c(.04,.001,.03,.2,.2), c(1,1), c(.6), c(.05,.05,.05)))
  line("holm", paste(sapply(p, num), collapse = ","), paste(sapply(p.adjust(p, "holm"), num), collapse = ","))
