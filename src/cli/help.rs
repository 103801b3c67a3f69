//! Show by examples what can be typed, and list the exit statuses: what stands around the help of options.

/// Of the whole program.
pub(super) const EXAMPLES: &str = "\
Examples:
  stripe demo                                     the example of the paper, explained
  stripe run ./prog --expect-output out.txt       what did this output need?
  stripe run ./prog --stdin in.txt --expect-match 'sum = 15' -- 0 5
  stripe run ./prog                               same output, or same crash, as now
  stripe reduce                                   go on with the last run, if it was ended early
  stripe trace ./prog --stdin in.txt              what was executed, in order
  stripe replay ./prog --omit 8-12,40             one experiment of your own
  stripe doctor ./prog                            can it be traced here?";

/// Of `stripe run`.
pub(super) const RUN_EXAMPLES: &str = "\
Examples:
  stripe run ./prog                                    the same output, or crash, as now
  stripe run ./prog --expect-output out.txt < in.txt   exactly this output
  stripe run ./prog --expect-match 'sum = 15' -- 0 5   this in the output; 0 and 5 are its arguments
  stripe run ./prog --expect-signal SEGV               this crash, where it happens now
  stripe run ./prog --reference good.txt               the first line that differs from good.txt
  stripe run ./prog --only-lines '^sum'                just these lines, as they are now
  stripe run ./prog --check 'grep -q wrong'            a command judges
  stripe run ./prog --criterion sum=sum --criterion mul=mul   each by itself, and a table of both
  stripe run ./prog --max-time 1m --emit json=s.json   stop after a minute, and keep the result";

/// Of `stripe reduce`.
pub(super) const REDUCE_EXAMPLES: &str = "\
Examples:
  stripe reduce                                        the latest run, with the same options and budgets
  stripe reduce 3 --max-time 10m                       run 3 of `stripe runs`, for ten minutes more";

/// Of `stripe report`.
pub(super) const REPORT_EXAMPLES: &str = "\
Examples:
  stripe report                                        what the latest run has found
  stripe report 3 --format json                        run 3 of `stripe runs`, for programs
  stripe report .stripe/3-prog --emit json=s.json      a run by its folder, and into a file";

/// Of `stripe trace`.
pub(super) const TRACE_EXAMPLES: &str = "\
Examples:
  stripe trace ./prog --stdin in.txt                   an event a line
  stripe trace ./prog --format compact -- 0 5          as in the paper: 6_1 7_2 8_3
  stripe trace ./prog --format json > trace.json       for programs";

/// Of `stripe replay`.
pub(super) const REPLAY_EXAMPLES: &str = "\
Examples:
  stripe replay ./prog --stdin in.txt --omit 8-12,40   all events of `stripe trace` but these
  stripe replay ./prog --stdin in.txt --keep 3,7,8     these only, and what cannot be left out
  stripe replay ./prog --omit 12 --expect-match 'sum = 15' -- 0 5";

/// Of `stripe replay`.
pub(super) const REPLAY_STATUS: &str = "\
Exit status:
    0  the failure is reproduced          1  it is not, or an operational error
  125  the run says nothing               2  usage
                                          3  there is no failure to look for
                                          4  the program differs from run to run";

/// Of `stripe doctor`.
pub(super) const DOCTOR_EXAMPLES: &str = "\
Examples:
  stripe doctor                                        can programs be traced here?
  stripe doctor ./prog                                 can this one, and what is in scope?";

/// Of `stripe run` and `stripe reduce`.
pub(super) const EXIT_STATUS: &str = "\
Exit status:
    0  finished, 1-minimal                5  a budget ended the search (best so far is printed)
    1  operational error                  6  the failure shows even if nothing is executed
    2  usage                             70  internal error
    3  the run does not show the failure
    4  the program differs from run to run
  130  interrupted (best so far is printed); 129 and 143 by SIGHUP and SIGTERM";
