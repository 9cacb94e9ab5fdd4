use super::*;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

/// A folder with a list of hosts, and a stand-in for ssh that runs everything here.
fn hosts(text: &str) -> (tempfile::TempDir, Ssh) {
    let folder = tempfile::tempdir().unwrap();
    let ssh = folder.path().join("ssh");
    std::fs::write(
        &ssh,
        "#!/bin/sh\n[ \"$1\" = broken ] && { echo no route >&2; exit 255; }\nshift\nexec sh -c \"$1\"\n",
    )
    .unwrap();
    std::fs::set_permissions(&ssh, std::fs::Permissions::from_mode(0o755)).unwrap();
    let file = folder.path().join("hosts.toml");
    std::fs::write(&file, format!("ssh = \"{}\"\n{text}", ssh.display())).unwrap();
    let read = Ssh::read(&file).unwrap();
    (folder, read)
}

fn handed_in(ssh: &Ssh, folder: &Path, feature: &str, script: &str) -> Result<String> {
    let (log, script) = (folder.join("job.log"), |_: &Sight| script.to_owned());
    ssh.hand_in(&ClusterJob { name: "job", feature, alone: true, turn: 0, log: &log, script: &script })
}

fn wait(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !is_so() {
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_job_outlives_its_connection_is_seen_and_ends_when_it_is_cancelled() {
    let (folder, ssh) =
        hosts("[[host]]\nname = \"broken\"\nkind = \"k\"\n[[host]]\nname = \"h\"\nkind = \"k\"\n");
    let script = "echo 'it''s (here' \"$0\"; sleep 600 & wait\n";
    let job = handed_in(&ssh, folder.path(), "k", script).unwrap();
    assert!(job.starts_with("h/"), "the host that does not answer is passed over: {job}");
    let planted = folder.path().join("planted");
    let injected = format!("h/1; touch {}:", planted.display());
    for hostile in ["h/1:", &injected, "h/1:1", "h/:7", "-oProxyCommand=x/7:7", "other/7:7", "h"] {
        assert!(ssh.cancel(hostile).unwrap_err().contains("is no job of a host"), "{hostile}");
        let seen = ssh.look(&[hostile]);
        assert!(matches!(&seen[hostile], JobState::Unknown(why) if why.contains("is no job")), "{seen:?}");
    }
    assert!(!planted.exists() && ssh.look(&[""]).is_empty());
    let dead = "broken/7:7";
    let seen = ssh.look(&[&job, "h/2:0", dead]);
    assert_eq!(seen.get(&job), Some(&JobState::Running("h".into())));
    assert!(matches!(&seen[dead], JobState::Unknown(why) if why.contains("no route")), "{seen:?}");
    assert_eq!(seen.len(), 2, "another process of the same number is none of ours: {seen:?}");
    wait("its output", || {
        std::fs::read_to_string(folder.path().join("job.log")).is_ok_and(|log| log.contains("its (here"))
    });
    ssh.cancel(&job).unwrap();
    wait("its end", || ssh.look(&[&job]).is_empty());
    ssh.cancel(&job).unwrap();
    assert!(ssh.cancel(dead).unwrap_err().contains("no route"));
}

#[test]
fn a_kind_without_hosts_and_hosts_that_do_not_answer_are_told() {
    let (folder, ssh) = hosts("[[host]]\nname = \"broken\"\n[[host]]\nname = \"h\"\nfolder = \"/nowhere\"\n");
    assert_eq!(ssh.kinds(), ["broken", "h"]);
    let none = handed_in(&ssh, folder.path(), "zen9", "").unwrap_err().to_string();
    assert!(none.contains("no host is of the kind zen9: the list has broken and h"), "{none}");
    let dead = handed_in(&ssh, folder.path(), "broken", "").unwrap_err().to_string();
    assert!(dead.contains("no host took the job for broken: broken: no route"), "{dead}");
    let blind = handed_in(&ssh, folder.path(), "h", "").unwrap_err().to_string();
    assert!(blind.contains("it does not see /nowhere"), "{blind}");
}

#[test]
fn a_list_that_ssh_could_not_use_is_refused_with_what_a_list_looks_like() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hosts.toml");
    for (text, expected) in [
        ("", "it lists no host"),
        ("[[host]]\nname = \"-oProxyCommand=x\"\n", "is no name of a host"),
        ("[[host]]\nname = \"a\"\nuser = \"b\"\n", "unknown field `user`"),
        ("ssh = \" \"\n[[host]]\nname = \"a\"\n", "names no command"),
    ] {
        std::fs::write(&file, text).unwrap();
        let said = Ssh::read(&file).unwrap_err().0;
        assert!(said.contains(expected) && said.contains("[[host]]\n  name = \"node1\""), "{said}");
    }
}
