//! Ctrl-C, kill -9, and going on afterwards.

use super::lab::{self, ALL_ROUNDS, Lab, Running, Said};
use std::os::unix::process::CommandExt as _;
use std::time::{Duration, Instant};

/// A running slow campaign with at least one finished round.
fn in_the_middle() -> Option<(Lab, Running)> {
    let lab = Lab::slow()?;
    let mut running = lab.start(&[]);
    lab.wait_until(&mut running, "SELECT count(*) FROM round");
    Some((lab, running))
}

/// A slow campaign that got this signal in the middle, and what it said.
fn stopped_by(signal: &str) -> Option<(Lab, Said)> {
    lab::stopped_in_the_middle(|| {
        let (lab, running) = in_the_middle()?;
        running.signal(signal);
        Some((lab, running.wait()))
    })
}

/// Every sample in order, as one line each.
fn dump(lab: &Lab) -> Vec<String> {
    lab.column(
        "SELECT id || ' ' || round || ' ' || process || ' ' || wall_ns || ' ' || at FROM sample ORDER BY id",
    )
}

/// Goes on to the end: what was kept is still there, the rounds are numbered on, the sampling is the same.
#[track_caller]
fn goes_on(lab: &Lab) -> Said {
    let (samples, sampling) = (dump(lab), lab.column(SAMPLING));
    let rounds = lab.count("SELECT count(*) FROM round");
    assert!((1..ALL_ROUNDS).contains(&rounds), "interrupted in the middle, after {rounds} rounds");
    lab.assert_ledger_is_whole();
    let said = lab.run(&["--resume"]);
    said.assert_code(0);
    said.assert_errors(&[&format!("continuing campaign 1 after {rounds} finished rounds")]);
    assert_eq!(lab.count("SELECT count(*) FROM campaign"), 1);
    assert_eq!(dump(lab)[..samples.len()], samples, "what was measured before is untouched");
    assert_eq!(lab.column(SAMPLING), sampling);
    assert_eq!(lab.count("SELECT count(*) FROM round"), ALL_ROUNDS, "as many as without the interruption");
    assert_eq!(lab.count("SELECT count(*) FROM look"), 1, "and looked at once");
    assert_eq!(
        lab.count("SELECT count(DISTINCT n) FROM (SELECT count(*) AS n FROM sample WHERE flagged IS NOT 'retaken' GROUP BY round)"),
        1
    );
    // Beside much other work the contrast may stay undecided after the last rotation; the end must be the look's.
    let undecided = lab.count("SELECT contrasts - decided FROM look");
    let end = if undecided == 0 { "decided" } else { "rotations" };
    assert_eq!(lab.column("SELECT stopped_because FROM campaign"), [end]);
    lab.assert_ledger_is_whole();
    said
}

const SAMPLING: &str = "SELECT name || ' ' || windows || ' ' || iterations || ' ' || warmup || ' ' || samples FROM campaign_input";

#[test]
fn ctrl_c_shows_what_there_is_and_the_campaign_goes_on_later() {
    let Some((lab, said)) = stopped_by("INT") else { return };
    said.assert_code(1);
    said.assert_page(&["interrupted (--resume continues)", "honest"]);
    said.assert_errors(&["interrupted. Every finished round is kept; `--resume` continues from there."]);
    assert_eq!(lab.column("SELECT stopped_because FROM campaign"), ["interrupted"]);
    goes_on(&lab);
}

#[test]
fn what_a_round_waited_is_not_what_others_are_expected_to_take() {
    let Some((lab, _)) = stopped_by("INT") else { return };
    let waited = "UPDATE round SET elapsed_ns = elapsed_ns + 25000000000, waited_ns = coalesce(waited_ns, 0) + 25000000000 WHERE round = 0";
    assert_eq!(lab.ledger().execute(waited, []).expect("the ledger can be written"), 1);
    goes_on(&lab);
}

#[test]
fn a_polite_kill_is_as_good_as_ctrl_c() {
    let Some((lab, said)) = stopped_by("TERM") else { return };
    said.assert_code(1);
    assert_eq!(lab.column("SELECT stopped_because FROM campaign"), ["interrupted"]);
}

#[test]
fn kill_9_loses_at_most_the_round_in_flight() {
    let Some((lab, said)) = stopped_by("KILL") else { return };
    assert_eq!(said.signal, Some(9));
    let deadline = Instant::now() + Duration::from_secs(20);
    while !lab::processes_from(&lab.file("store")).is_empty() {
        assert!(Instant::now() < deadline, "measured programs outlive the lab");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(lab.count("SELECT count(*) FROM campaign WHERE finished_at IS NULL"), 1);
    goes_on(&lab);
    let again = lab.run(&["--resume"]);
    again.assert_code(2);
    again.assert_errors(&["nothing to resume", "run without --resume"]);
}

/// Is there a campaign in the ledger, or a ledger at all?
fn has_begun(lab: &Lab) -> bool {
    lab.ledger_path().exists()
        && lab.count("SELECT count(*) FROM sqlite_master") > 0
        && lab.count("SELECT count(*) FROM campaign") > 0
}

#[test]
fn kill_9_at_any_moment_leaves_a_ledger_that_goes_on() {
    let Some(lab) = Lab::slow() else { return };
    let mut killed = 0;
    for milliseconds in [20, 80, 160, 320, 640] {
        let mut running = lab.start(if has_begun(&lab) { &["--resume"] } else { &[] });
        std::thread::sleep(Duration::from_millis(milliseconds));
        if !running.is_running() {
            break;
        }
        running.signal("KILL");
        running.wait();
        killed += 1;
    }
    assert!(killed >= 3, "killed while it prepared, built or measured");
    lab.run(if has_begun(&lab) { &["--resume"] } else { &[] }).assert_code(0);
    lab.assert_ledger_is_whole();
    assert_eq!(lab.count("SELECT count(*) FROM campaign"), 1);
    assert_eq!(lab.count("SELECT count(*) FROM round"), ALL_ROUNDS);
    assert_eq!(
        lab.count("SELECT count(DISTINCT n) FROM (SELECT count(*) AS n FROM sample WHERE flagged IS NOT 'retaken' GROUP BY round)"),
        1
    );
}

/// Two inputs; on the second, `faulty` waits as long as there is a file `hold`.
const HELD: &str = r#"
#include "plain.h"
static uint64_t faulty(const uint8_t *data, size_t size)
{
    if (data[0] == 'h') {
        while (access("hold", F_OK) == 0) {
            usleep(1000);
        }
    }
    return plain(data, size);
}
ASSAY_VARIANT("plain", plain)
ASSAY_VARIANT("faulty", faulty)
ASSAY_MAIN()
"#;

#[test]
fn kill_9_while_tuning_leaves_no_half_of_it() {
    let Some(mut lab) = Lab::with_program(HELD, &["plain", "faulty"]) else { return };
    lab.measure_out_of_turn();
    lab.edit(|text| text + "\n[inputs.held]\npath = \"held.bin\"\n");
    std::fs::write(lab.file("held.bin"), "hold me\n".repeat(1000)).unwrap();
    // The answers of an earlier campaign are known, so this one is held when it tunes.
    lab.run(&[]).assert_code(0);
    std::fs::write(lab.file("hold"), "").unwrap();
    let mut running = lab.start(&[]);
    lab.wait_until(&mut running, "SELECT count(*) FROM process WHERE campaign = 2");
    std::thread::sleep(Duration::from_millis(300));
    running.signal("KILL");
    running.wait();
    std::fs::remove_file(lab.file("hold")).unwrap();
    assert_eq!(lab.count("SELECT count(*) FROM campaign_input WHERE campaign = 2"), 0);
    lab.run(&["--resume"]).assert_code(0);
    assert_eq!(lab.count("SELECT count(*) FROM campaign_input WHERE campaign = 2"), 2);
    lab.assert_ledger_is_whole();
}

#[test]
fn ctrl_c_while_compiling_is_no_failure_of_the_compiler() {
    let Some(mut lab) = Lab::with_program(lab::SLOW, &["plain", "honest"]) else { return };
    lab.wrap_gcc(
        "case \"$*\" in *program.c*) if [ -e \"$HERE/hold\" ]; then touch \"$HERE/compiling\"; exec sleep 60; fi;; esac",
    );
    std::fs::write(lab.file("hold"), "").unwrap();
    let mut command = lab.command("run", &["experiment.toml"]);
    let mut running = Running::start({
        // A group of its own, as a shell gives each command: Ctrl-C goes to all of it.
        command.process_group(0);
        command
    });
    let deadline = Instant::now() + Duration::from_secs(60);
    while !lab.file("compiling").exists() {
        assert!(running.is_running() && Instant::now() < deadline, "it never compiled");
        std::thread::sleep(Duration::from_millis(2));
    }
    lab::signal("INT", &format!("-{}", running.id()));
    let said = running.wait();
    said.assert_code(1);
    said.assert_page(&["interrupted (--resume continues)"]);
    assert_eq!(lab.column("SELECT reason FROM failure"), [""; 0]);
    std::fs::remove_file(lab.file("hold")).unwrap();
    lab.run(&["--resume"]).assert_code(0);
    // It was measured to an end; to which of the three depends on what else the machine does.
    let stopped = lab.column("SELECT stopped_because FROM campaign");
    assert!(["decided", "budget", "rotations"].iter().any(|end| stopped == [*end]), "{stopped:?}");
}

#[test]
fn a_signal_that_reaches_the_compiler_before_the_lab_is_no_failure_of_the_compiler() {
    let Some(mut lab) = Lab::with_program(lab::SLOW, &["plain", "honest"]) else { return };
    lab.wrap_gcc(
        "case \"$*\" in *program.c*) touch \"$HERE/ended\"; echo 'gcc: fatal error: Terminated signal terminated program cc1' >&2; exit 1;; esac",
    );
    let mut running = lab.start(&[]);
    wait_for(&lab.file("ended"), &mut running);
    // Enough for the lab to see the compiler's end.
    std::thread::sleep(Duration::from_millis(300));
    ends_soon(running, "TERM").assert_code(1);
    assert_eq!(lab.column("SELECT reason FROM failure"), [""; 0]);
    assert_eq!(lab.column("SELECT stopped_because FROM campaign"), ["interrupted"]);
}

#[test]
fn a_polite_kill_ends_a_compiler_that_it_does_not_reach() {
    for name in ["TERM", "INT", "HUP"] {
        let Some(mut lab) = Lab::with_program(lab::SLOW, &["plain", "honest"]) else { return };
        lab.wrap_gcc("case \"$*\" in *program.c*) touch \"$HERE/compiling\"; sleep 600;; esac");
        let mut running = lab.start(&[]);
        wait_for(&lab.file("compiling"), &mut running);
        let said = ends_soon(running, name);
        said.assert_code(1);
        assert_eq!(lab.column("SELECT reason FROM failure"), [""; 0]);
    }
}

/// Once there is a file `hold`, `faulty` starts a program that leaves its session and its parent, and then stops itself.
const STOPPED: &str = r#"
#include "plain.h"
#include <signal.h>
#include <sys/wait.h>
static uint64_t faulty(const uint8_t *data, size_t size)
{
    if (access("hold", F_OK) == 0) {
        pid_t child = fork();
        if (child == 0) {
            setsid();
            if (fork() == 0) {
                execl("./sleeper", "sleeper", "600", (char *)0);
            }
            _exit(0);
        }
        waitpid(child, 0, 0);
        while (access("stopped", F_OK) != 0) {
            close(creat("stopped", 0600));
        }
        raise(SIGSTOP);
    }
    return plain(data, size);
}
ASSAY_VARIANT("plain", plain)
ASSAY_VARIANT("faulty", faulty)
ASSAY_MAIN()
"#;

#[test]
fn a_polite_kill_ends_a_stopped_program_and_what_left_its_session() {
    let Some(mut lab) = Lab::with_program(&format!("#include <fcntl.h>\n{STOPPED}"), &["plain", "faulty"])
    else {
        return;
    };
    lab.measure_out_of_turn();
    std::fs::copy("/bin/sleep", lab.file("sleeper")).unwrap();
    std::fs::write(lab.file("hold"), "").unwrap();
    let mut running = lab.start(&["--timeout", "300"]);
    wait_for(&lab.file("stopped"), &mut running);
    // It may still be the program that it was before it became a sleeper.
    let deadline = Instant::now() + Duration::from_secs(20);
    while sleepers(&lab) != 1 {
        assert!(Instant::now() < deadline, "it has left its session and its parent");
        std::thread::sleep(Duration::from_millis(5));
    }
    ends_soon(running, "TERM").assert_code(1);
    let deadline = Instant::now() + Duration::from_secs(20);
    while sleepers(&lab) + lab::processes_from(&lab.file("store")).len() > 0 {
        assert!(Instant::now() < deadline, "something outlives the lab");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(lab.column("SELECT reason FROM failure"), [""; 0], "the lab itself ended it");
    lab.assert_ledger_is_whole();
}

/// Once there is a file `hold`, `faulty` ends itself by a signal and says that it does.
const ENDED: &str = r#"
#include "plain.h"
#include <signal.h>
static uint64_t faulty(const uint8_t *data, size_t size)
{
    if (access("hold", F_OK) == 0) {
        close(creat("ended", 0600));
        raise(SIGTERM);
    }
    return plain(data, size);
}
ASSAY_VARIANT("plain", plain)
ASSAY_VARIANT("faulty", faulty)
ASSAY_MAIN()
"#;

#[test]
fn a_signal_that_reaches_the_measured_programs_before_the_lab_is_no_failure_of_theirs() {
    let Some(mut lab) = Lab::with_program(&format!("#include <fcntl.h>\n{ENDED}"), &["plain", "faulty"])
    else {
        return;
    };
    lab.measure_out_of_turn();
    std::fs::write(lab.file("hold"), "").unwrap();
    let mut running = lab.start(&[]);
    wait_for(&lab.file("ended"), &mut running);
    // Enough for the lab to see the program's end.
    std::thread::sleep(Duration::from_millis(300));
    let said = ends_soon(running, "TERM");
    said.assert_code(1);
    assert_eq!(lab.column("SELECT reason FROM failure"), [""; 0]);
    lab.assert_ledger_is_whole();
}

/// A benchmark command that ends itself by a signal as soon as there is a file `hold`, and says that it does.
const SELF_ENDED: &str = "#!/bin/sh\nif [ -e hold ]; then touch ended; kill -TERM $$; fi\n";

/// Compares it with another command, in a folder of its own.
fn comparison_of_self_ended() -> Option<(Lab, Running)> {
    let mut lab = Lab::with_program(lab::SLOW, &["plain", "honest"])?;
    lab.measure_out_of_turn();
    lab::write_script(&lab.file("bench"), SELF_ENDED);
    let mut command = lab.command("compare", &[]);
    command.args(["--adapter", "wall", "--budget", "2", "--quiet", "--", "./bench", "sh -c :"]);
    let mut running = Running::start(command);
    lab.wait_until(&mut running, "SELECT count(*) FROM comparison_visit");
    std::fs::write(lab.file("hold"), "").unwrap();
    Some((lab, running))
}

#[test]
fn a_signal_that_reaches_a_benchmark_command_before_the_lab_is_no_failure_of_it() {
    let Some((lab, mut running)) = comparison_of_self_ended() else { return };
    wait_for(&lab.file("ended"), &mut running);
    // Enough for the lab to see the command's end.
    std::thread::sleep(Duration::from_millis(300));
    let said = ends_soon(running, "TERM");
    said.assert_code(1);
    said.assert_errors(&["interrupted. Every finished run is kept"]);
    assert_eq!(lab.column("SELECT failed FROM comparison_visit WHERE failed IS NOT NULL"), [""; 0]);
}

#[test]
fn a_benchmark_command_that_ends_itself_by_such_a_signal_has_failed_and_is_waited_for_once() {
    let Some((_lab, running)) = comparison_of_self_ended() else { return };
    let said = running.wait();
    said.assert_page(&["runs of ./bench failed: the benchmark command ended with exit code 143"]);
}

fn sleepers(lab: &Lab) -> usize {
    lab::processes_from(&lab.file("sleeper")).len()
}

fn wait_for(file: &std::path::Path, running: &mut Running) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !file.exists() {
        assert!(running.is_running() && Instant::now() < deadline, "there never was {}", file.display());
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Sends a signal, to the lab alone. What is promised is two seconds, for a lab that is optimised and alone on the machine.
fn ends_soon(running: Running, signal: &str) -> Said {
    running.signal(signal);
    let begun = Instant::now();
    let said = running.wait();
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?} after SIG{signal}", begun.elapsed());
    eprintln!("ended {:?} after SIG{signal}", begun.elapsed());
    said
}

#[test]
fn a_terminal_that_closes_is_as_good_as_ctrl_c() {
    let Some((lab, said)) = stopped_by("HUP") else { return };
    said.assert_code(1);
    assert_eq!(lab.column("SELECT stopped_because FROM campaign"), ["interrupted"]);
}

#[test]
fn a_campaign_that_is_still_measured_is_not_resumed_by_another() {
    let Some((lab, running)) = in_the_middle() else { return };
    // Beside much other work the campaign may end before the second assay gets to it: once more, then.
    let mut said = lab.run(&["--resume"]);
    let (mut lab, mut running) = (lab, running);
    for _ in 0..4 {
        if said.errors.contains("still measuring") {
            break;
        }
        running.wait().assert_code(0);
        (lab, running) = in_the_middle().expect("it was there a moment ago");
        said = lab.run(&["--resume"]);
    }
    said.assert_code(3);
    said.assert_errors(&["another assay process is still measuring campaign 1"]);
    running.wait().assert_code(0);
    assert_eq!(lab.count("SELECT count(*) FROM round"), ALL_ROUNDS);
    lab.assert_ledger_is_whole();
}
