//! Define the help around the options: examples, exit statuses, and an explanation of words.

/// The examples of the whole program.
pub(super) const EXAMPLES: &str = "\
Examples:
  stripe demo                                 the example of the paper, explained
  stripe run ./prog --expect-output out.txt   what did this output need?
  stripe run ./prog --stdin in.txt --expect-match 'sum = 15' -- 0 5
  stripe run ./prog                           same output, or same crash, as now
  stripe explain 11#3                         why is this execution needed?
  stripe reduce                               go on with a run that was ended early
  stripe trace ./prog --stdin in.txt          what was executed, in order
  stripe replay ./prog --omit 8-12,40         one experiment of your own
  stripe doctor ./prog                        can it be traced here?
  stripe help words                           what the words of results mean";

/// The examples of `stripe run`.
pub(super) const RUN_EXAMPLES: &str = "\
Examples:
  stripe run ./prog                                   same output, or crash, as now
  stripe run ./prog --expect-output out.txt <in.txt   exactly this output
  stripe run ./prog --expect-match 'sum = 15' -- 0 5  this, with arguments 0 and 5
  stripe run ./prog --expect-signal SEGV              this crash, where it is now
  stripe run ./prog --reference good.txt              what differs from good.txt
  stripe run ./prog --only-lines '^sum'               these lines, as they are now
  stripe run ./prog --check 'grep -q wrong'           a command judges
  stripe run ./prog --criterion a=^a --criterion b=^b each alone, and a table
  stripe run ./prog --max-time 1m --emit json=s.json  for a minute, and to a file";

/// The examples of `stripe reduce`.
pub(super) const REDUCE_EXAMPLES: &str = "\
Examples:
  stripe reduce                    the latest run, with the same options and budgets
  stripe reduce 3 --max-time 10m   run 3 of `stripe runs`, for ten minutes more";

/// The examples of `stripe locate`.
pub(super) const LOCATE_EXAMPLES: &str = "\
Examples:
  stripe locate ./prog --stdin in.txt --reference correct.txt   one failing run
  stripe locate ./prog --check ./is-right.sh -- 0 5             a command judges
  stripe locate ./prog --expect-timeout --reference correct.txt it does not end";

/// The exit statuses of `stripe locate`.
pub(super) const LOCATE_STATUS: &str = "\
Exit status:
  0    all changes were tried, whether one of them helps or not
  1    an operational error, or a program that cannot be traced
  2    the command line cannot be used
  3    the run is right
  4    two runs differ
  5    a budget ended the work; the ranking is of what was tried
  130  interrupted";

/// The examples of `stripe slice`.
pub(super) const SLICE_EXAMPLES: &str = "\
Examples:
  stripe slice ./prog --stdin in.txt --expect-match 'sum = 15'   what that output depends on
  stripe slice ./prog --kind data --reference correct.txt        the wrong line, by data alone
  stripe slice ./prog --value 'sum@13#3'                         why has sum this value there?
  stripe slice ./prog --decision 10#4                            why did control go there?
  stripe slice ./prog --forward 8#2 --format dot                 who is fed by that, as a picture";

/// The examples of `stripe changes`.
pub(super) const CHANGES_EXAMPLES: &str = "\
Examples:
  stripe changes --good v1.2 --bad HEAD --build 'make -j2' --test ./run-tests.sh
  stripe changes --good ../release-1.2 --bad . --build make --test './prog < in.txt'
  stripe changes --good v1.2 --bad . --build make -- ./prog --level 3
  stripe changes --good a --bad b --test 'python3 t.py' --emit patch=guilty.patch";

/// The exit statuses of `stripe changes`.
pub(super) const CHANGES_STATUS: &str = "\
Exit status:
  0    no change of the result can be left out
  1    an operational error, or a version that does not build
  2    the command line cannot be used, or the versions are the same
  3    the good version fails, or the bad one works
  4    a version does not show the same each time
  5    a budget ended the search; the changes that are left break the program
  130  interrupted; the changes that are left break the program";

/// The examples of `stripe simplify`.
pub(super) const SIMPLIFY_EXAMPLES: &str = "\
Examples:
  stripe simplify ./prog --stdin crash.md             the same crash, or message
  stripe simplify --file bug.c --expect-stderr-match 'internal error' -- cc -c bug.c
  stripe simplify ./prog --file a.cfg --file b.cfg --expect-match wrong -- a.cfg
  stripe simplify --file page.html --check ./is-interesting.sh --output small.html
  stripe simplify ./prog --arguments --environment -- -x --level 3
  stripe simplify ./prog --stdin in.txt --differs-from ./other-version
  stripe simplify --prevent --arguments=^-f --expect-match wrong -- ./build-and-run.sh -fwrapv -fno-gcse";

/// The exit statuses of `stripe simplify`.
pub(super) const SIMPLIFY_STATUS: &str = "\
Exit status:
  0    nothing more can be left out
  1    an operational error
  2    the command line cannot be used
  3    the program does not show the failure; with --prevent: or shows it anyway
  4    it does not show it in each run
  5    a budget ended the search; what is left shows the failure, or prevents it
  6    the failure shows even if nothing is given
  130  interrupted; what is left shows the failure";

/// The examples of `stripe report`.
pub(super) const REPORT_EXAMPLES: &str = "\
Examples:
  stripe report                                    what the latest run has found
  stripe report 3 --format json                    run 3 of `stripe runs`
  stripe report .stripe/3-prog --emit json=s.json  by its folder, and to a file
  stripe report --emit gdb=s.gdb                   then: gdb -q -x s.gdb";

/// The examples of `stripe explain`.
pub(super) const EXPLAIN_EXAMPLES: &str = "\
Examples:
  stripe explain main.c:11       line 11 of main.c: all its executions
  stripe explain 11#3            the third execution of line 11
  stripe explain 12              event 12, as `stripe trace` counts
  stripe explain 3 main.c:11#3   run 3 of `stripe runs`";

/// The examples of `stripe trace`.
pub(super) const TRACE_EXAMPLES: &str = "\
Examples:
  stripe trace ./prog --stdin in.txt               an event a line
  stripe trace ./prog --format compact -- 0 5      as in the paper: 6_1 7_2 8_3
  stripe trace ./prog --format json > trace.json   for programs";

/// The examples of `stripe study`.
pub(super) const STUDY_EXAMPLES: &str = "\
Examples:
  stripe study check faults.toml               is every fault what it says?
  stripe study run faults.toml --out results/  all results; goes on where it was
  stripe study table results/ --format latex   a table for a paper
  stripe study report results/ --html study.html";

/// The exit statuses of `stripe study`.
pub(super) const STUDY_STATUS: &str = "\
Exit status:
    0  finished, nothing is missing      1  operational error
    7  something was left out            2  usage
  130  interrupted; `study run` goes on from there";

/// The examples of `stripe replay`.
pub(super) const REPLAY_EXAMPLES: &str = "\
Examples:
  stripe replay ./prog --stdin in.txt --omit 8-12,40  all events but these
  stripe replay ./prog --stdin in.txt --keep 3,7,8    these, and what has to stay
  stripe replay ./prog --omit 12 --expect-match 'sum = 15' -- 0 5
  stripe replay 3 --omit 8-12         as run 3 of `stripe runs` was started
  stripe replay 3 --by-product 1      another failure that came up in its search";

/// The exit statuses of `stripe replay`.
pub(super) const REPLAY_STATUS: &str = "\
Exit status:
    0  the failure is reproduced          1  it is not, or an operational error
  125  the run says nothing               2  usage
                                          3  there is no failure to look for
                                          4  the program differs from run to run";

/// The examples of `stripe doctor`.
pub(super) const DOCTOR_EXAMPLES: &str = "\
Examples:
  stripe doctor          can programs be traced here?
  stripe doctor ./prog   can this one, and what is in scope?";

/// The exit statuses of `stripe run` and `stripe reduce`.
pub(super) const EXIT_STATUS: &str = "\
Exit status:
    0  finished, 1-minimal               5  a budget ended the search: best so far
    1  operational error                 6  the failure shows even without anything
    2  usage                            70  internal error
    3  the run does not show the failure
    4  the program differs from run to run
  130  interrupted: best so far; 129 and 143 by SIGHUP and SIGTERM";

/// The text of `stripe help words`.
pub(super) const WORDS: &str = "\
Words:
  event            one execution of a statement in the recorded run; events are
                   numbered from 1, in order
  needed           without this event, the failure was gone in an experiment:
      ●            it is needed for its effect, what it writes or prints
      ○            it is needed only as a decision: its branch leads the program
                   to what is needed, but has no effect of its own
      ·            it was executed, and is not needed
      ■            it cannot be left out: no later event of the same call, to
                   which control could go on
  critical slice   all needed events together; they were seen to reproduce the
                   failure without the others
  1-minimal        without any single one of the needed events the failure is
                   gone; a group of several could still be left out at once
  test             one partial execution of the program, with some events left
                   out; it may take several runs, with different values in
                   undefined memory
  reproduced       a test shows the failure under study
  not reproduced   it ended without it
  unresolved       it says nothing: it crashed in another way, hung, or left the
                   recorded path
  by-product       another failure, in which tests have ended that are
                   unresolved; `stripe replay RUN --by-product 1` shows it
  control          what makes a statement be executed in a test. program: its
                   own branches decide; a test that takes another branch than
                   was recorded is unresolved. trace: the recorded order is
                   imposed, whatever the branches say; so a branch as such is
                   never needed. both: first program, then trace from there
  criterion        what makes a run show the failure
  fully contained  runs have a view of their own of files, processes and
                   network: what they do ends with them. At the basic level
                   their writing is confined, not hidden
  undefined value  of memory that was never written, or written only by events
                   that were left out; it is set to patterns, so that luck with
                   old contents reproduces nothing
";
