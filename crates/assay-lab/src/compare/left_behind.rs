//! The build's own binaries, where a comparison was killed before it could put them back.
//!
//! Each side's folder lists what it displaces ahead of the first placed binary. The next comparison of the same store finds
//! the list of a process that is gone. What was built again since is left alone: only a file that is one of those in the
//! side's folder, by its time of change and as a file, or else by its contents, is assay's.
//!
//! A list is believed only where assay made it. A store may come with a cloned repository or an archive, and a list in it could
//! name any file of the user's. So a list says the number and the time of change of an empty file beside it: the kernel
//! gives both when that file is made, nobody can set them, and nobody can know them beforehand.
//!
//! Who lives is told by a lock, which the kernel takes from whoever dies: a number says nothing across containers, nor when it
//! is given again. Folders are made and put back one at a time per store, so nobody builds while another puts back.

use crate::lead::turn;
use crate::store::mark;
use assay_linux::{identity, interrupt, lock, output};
use assay_pure::event::{Event, Wait};
use serde::{Deserialize, Serialize};
use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What a process of ours works in, within the store.
const PREFIX: &str = "comparing-";
/// The list's name in a side's folder.
const LIST: &str = "displaced";
/// The file beside it that proves it.
const MARK: &str = "made-here";
/// What a living process has locked, in its folder;
const ALIVE: &str = "alive.lock";
/// and whoever makes or removes such folders, in the store.
const ONE: &str = "comparing.lock";
/// How often one who waits for that lock tells of it.
const TOLD: Duration = Duration::from_secs(1);

/// The folder that a process of ours works in. As long as it is there nobody puts back what its lists name.
#[derive(Debug)]
pub struct Workplace {
    folder: PathBuf,
    _alive: File,
}

impl Workplace {
    /// Makes one in the store, which is made where there is none. Another that makes or removes one there is waited for.
    ///
    /// # Errors
    /// The store cannot be written, or is a folder that is not assay's; or the user asks to stop while another is waited for.
    pub fn new(store: &Path, on: &mut dyn FnMut(Event)) -> io::Result<Workplace> {
        mark::claim(store).map_err(io::Error::other)?;
        let _one = one(store, on)?;
        // In another container another process can have the same number.
        let mut names = (0..).map(|nth| format!("{PREFIX}{}-{nth}", std::process::id()));
        let folder = loop {
            let folder = store.join(names.next().expect("there is no end of them"));
            match fs::create_dir(&folder) {
                Ok(()) => break folder.canonicalize()?,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => (),
                Err(error) => return Err(error),
            }
        };
        let alive = lock::open(&folder.join(ALIVE))?;
        alive.lock()?;
        Ok(Workplace { folder, _alive: alive })
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Workplace {
    fn drop(&mut self) {
        // Nobody looks into it while it goes. Who is asked to stop while another has the right leaves it to the next start.
        if let Some(Ok(_one)) = self.folder.parent().map(|store| one(store, &mut |_| ())) {
            let _ = remove(&self.folder);
        }
    }
}

/// A file of the build's, kept under another name while placed ones take its place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Displaced {
    /// Where the build left it.
    pub path: PathBuf,
    /// Where it is kept.
    pub kept: PathBuf,
}

/// A side's list as it is written.
#[derive(Debug, Serialize, Deserialize)]
struct WrittenList {
    mark: FileStamp,
    files: Vec<Displaced>,
}

/// What the kernel gave the file that proves a list when it was made. It is this user's own: in a store that several share, another's
/// assay could have proven a list that names this one's files.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct FileStamp {
    inode: u64,
    /// Status change: seconds since 1970, and nanoseconds.
    changed: (i64, i64),
}

fn mark(folder: &Path) -> io::Result<FileStamp> {
    let found = fs::symlink_metadata(folder.join(MARK))?;
    if found.uid() != identity::user() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    Ok(FileStamp { inode: found.ino(), changed: (found.ctime(), found.ctime_nsec()) })
}

/// Writes a side's list.
///
/// # Errors
/// It cannot be written.
pub fn note(folder: &Path, displaced: &[Displaced]) -> io::Result<()> {
    let draft = folder.join(format!(".{LIST}"));
    // Without links: one that is put on the way later must lead nowhere else.
    let files = displaced.iter().map(|own| {
        let path = direct(&own.path).unwrap_or_else(|| own.path.clone());
        Displaced { path, kept: own.kept.clone() }
    });
    File::create_new(folder.join(MARK))?;
    let noted = WrittenList { mark: mark(folder)?, files: files.collect() };
    fs::write(&draft, serde_json::to_vec(&noted)?)?;
    fs::rename(draft, folder.join(LIST))
}

/// Puts back what processes that are gone left displaced in this store, and removes their folders; `replace` puts the second
/// file in the place of the first. Another that does so is waited for. Returns what was put back.
///
/// # Errors
/// A file cannot be put back; its folder is then kept.
pub fn put_back(
    store: &Path,
    replace: impl Fn(&Path, &Path) -> io::Result<()>,
    on: &mut dyn FnMut(Event),
) -> io::Result<Vec<PathBuf>> {
    let mut done = Vec::new();
    if !mark::is_store(store) {
        return Ok(done);
    }
    let _one = one(store, on)?;
    // One whose process was killed as it made or removed it: no other does either now.
    entries(store).iter().filter(|folder| is_named(folder)).for_each(|folder| drop(fs::remove_dir(folder)));
    for folder in workplaces(store).filter(|folder| lists(folder).all(|list| list.is_ok())) {
        // Held until the folder is gone.
        let alive = lock::open(&folder.join(ALIVE))?;
        match alive.try_lock() {
            Ok(()) => (),
            Err(TryLockError::WouldBlock) => continue,
            Err(TryLockError::Error(error)) => return Err(error),
        }
        for own in lists(&folder).flatten().flatten().filter(in_place).filter(is_placed) {
            replace(&own.path, &own.kept)?;
            done.push(own.path);
        }
        remove(&folder)?;
    }
    Ok(done)
}

/// Removes a folder of a process or of a side, when all is back that its lists name. The lists go first: one that a kill left
/// without its proof would look like another's, and stay.
///
/// # Errors
/// It cannot be removed.
pub fn remove(folder: &Path) -> io::Result<()> {
    forget(folder);
    // What says whose the folder is goes last, as a kill may leave the rest.
    for entry in entries(folder).into_iter().filter(|entry| !entry.ends_with(ALIVE)) {
        let is_folder = fs::symlink_metadata(&entry).is_ok_and(|found| found.is_dir());
        if is_folder { fs::remove_dir_all(&entry)? } else { fs::remove_file(&entry)? }
    }
    fs::remove_dir_all(folder)
}

fn forget(folder: &Path) {
    for side in entries(folder).into_iter().chain([folder.to_owned()]) {
        let _ = fs::remove_file(side.join(LIST));
    }
}

/// The right to make such folders and to put back, until it is dropped; who has it now is told at once and then every second.
/// The file stays: were it removed, another could be locked.
fn one(store: &Path, on: &mut dyn FnMut(Event)) -> io::Result<File> {
    let path = store.join(ONE);
    let file = lock::open(&path)?;
    let (began, mut told) = (Instant::now(), None::<(Instant, Option<String>)>);
    let mut waiting = || {
        if told.as_ref().is_none_or(|(at, _)| at.elapsed() >= TOLD) {
            let holder =
                told.take().map_or_else(|| lock::holder(&path).map(turn::named), |(_, holder)| holder);
            let wait = Wait::Store { holder: holder.clone() };
            on(Event::Waiting { wait, seconds: began.elapsed().as_secs_f64() });
            told = Some((Instant::now(), holder));
        }
    };
    let file = turn::locked(file, &mut waiting, &interrupt::asked)?.ok_or_else(|| {
        io::Error::new(io::ErrorKind::Interrupted, "stopped while another assay was waited for")
    })?;
    if told.is_some() {
        on(Event::WaitOver);
    }
    Ok(file)
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// Lists in this store that assay did not make here, of which nothing is put back or removed.
pub fn foreign(store: &Path) -> Vec<PathBuf> {
    workplaces(store).flat_map(|folder| lists(&folder).filter_map(Result::err).collect::<Vec<_>>()).collect()
}

/// Folders of processes, dead or alive; no links, and none that merely has such a name.
fn workplaces(store: &Path) -> impl Iterator<Item = PathBuf> {
    entries(store).into_iter().filter(|folder| {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let found = |path: &Path| fs::symlink_metadata(path).ok();
        name.starts_with(PREFIX)
            && found(folder).is_some_and(|found| found.is_dir())
            && found(&folder.join(ALIVE)).is_some_and(|found| found.is_file())
    })
}

/// Whether it has the very name that [`Workplace::new`] gives.
fn is_named(folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let numbers = name.strip_prefix(PREFIX).and_then(|numbers| numbers.split_once('-'));
    numbers.is_some_and(|(process, nth)| process.parse::<u32>().is_ok() && nth.parse::<u32>().is_ok())
}

/// What each side of a process lists, or the path of a list that is not assay's own.
fn lists(folder: &Path) -> impl Iterator<Item = Result<Vec<Displaced>, PathBuf>> {
    let sides = entries(folder).into_iter();
    sides.filter(|side| fs::symlink_metadata(side.join(LIST)).is_ok()).map(|side| listed(&side))
}

fn listed(side: &Path) -> Result<Vec<Displaced>, PathBuf> {
    let list = side.join(LIST);
    let regular =
        fs::symlink_metadata(&list).is_ok_and(|found| found.is_file() && found.uid() == identity::user());
    let text = if regular { fs::read(&list).unwrap_or_default() } else { Vec::new() };
    let noted: Option<WrittenList> = serde_json::from_slice(&text).ok();
    let own = noted.filter(|noted| mark(side).is_ok_and(|found| found == noted.mark));
    own.map(|noted| noted.files).ok_or(list)
}

/// The path without links on the way to it.
fn direct(path: &Path) -> Option<PathBuf> {
    Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?))
}

/// Whether what is displaced is a file where it was: no link leads elsewhere meanwhile.
fn in_place(own: &Displaced) -> bool {
    direct(&own.path).as_ref() == Some(&own.path)
        && fs::symlink_metadata(&own.path).is_ok_and(|found| found.is_file())
}

/// Whether assay put there what is there: dated as the build's own, and one of the files beside that.
fn is_placed(own: &Displaced) -> bool {
    if modified(&own.path).is_none() || modified(&own.path) != modified(&own.kept) {
        return false;
    }
    let mut folders: Vec<PathBuf> = own.kept.parent().map(Path::to_owned).into_iter().collect();
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        let (deeper, here) =
            entries(&folder).into_iter().partition(|path| path.is_dir() && !path.is_symlink());
        folders.extend::<Vec<PathBuf>>(deeper);
        files.extend::<Vec<PathBuf>>(here);
    }
    files.iter().any(|file| output::same_file(file, &own.path))
        || files.iter().any(|file| same_contents(file, &own.path))
}

fn same_contents(one: &Path, other: &Path) -> bool {
    let size = |path: &Path| fs::metadata(path).ok().filter(|found| found.is_file()).map(|found| found.len());
    size(one).is_some() && size(one) == size(other) && fs::read(one).ok() == fs::read(other).ok()
}

fn modified(path: &Path) -> Option<std::time::SystemTime> {
    fs::metadata(path).and_then(|found| found.modified()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replace(path: &Path, kept: &Path) -> io::Result<()> {
        fs::copy(kept, path).map(drop)
    }

    /// In which store the second process works, if this is one.
    const SECOND: &str = "ASSAY_TEST_SECOND_PROCESS";

    /// Displaces a file by a placed one from the folder of a process; returns the file.
    fn displace(root: &Path, folder: &Path) -> PathBuf {
        let side = folder.join("side-0");
        fs::create_dir_all(&side).unwrap();
        let (path, kept, placed) = (root.join("program"), side.join("own-0-0"), side.join("replay/program"));
        fs::write(&kept, "built").unwrap();
        fs::create_dir(side.join("replay")).unwrap();
        fs::write(&placed, "placed").unwrap();
        dated_as(&placed, &kept);
        fs::hard_link(&placed, &path).unwrap();
        note(&side, &[Displaced { path: path.clone(), kept }]).unwrap();
        path
    }

    /// Gives a file the time of change of another.
    fn dated_as(path: &Path, other: &Path) {
        let dated = fs::metadata(other).unwrap().modified().unwrap();
        File::options().write(true).open(path).unwrap().set_modified(dated).unwrap();
    }

    /// A store in which a process was killed, with the file it displaced: its path and the store.
    fn killed(root: &Path) -> (PathBuf, PathBuf) {
        let store = root.join("store");
        let workplace = Workplace::new(&store, &mut |_| ()).unwrap();
        let path = displace(root, workplace.folder());
        // Its lock goes, its folder stays.
        let Workplace { folder: _, _alive: alive } = &*std::mem::ManuallyDrop::new(workplace);
        alive.unlock().unwrap();
        (path, store)
    }

    /// Folders of processes in a store.
    fn folders(store: &Path) -> usize {
        entries(store).iter().filter(|path| path.is_dir()).count()
    }

    #[test]
    fn what_a_killed_process_displaced_is_put_back_once() {
        let root = tempfile::tempdir().unwrap();
        let (path, store) = killed(root.path());
        assert_eq!(put_back(&store, replace, &mut |_| ()).unwrap(), std::slice::from_ref(&path));
        assert_eq!(fs::read_to_string(&path).unwrap(), "built");
        assert_eq!(folders(&store), 0);
        assert!(put_back(&store, replace, &mut |_| ()).unwrap().is_empty());
        assert!(put_back(&root.path().join("none"), replace, &mut |_| ()).unwrap().is_empty());
        assert!(!root.path().join("none").exists(), "a store is not made for it");
    }

    /// A store with a list, as it comes with a repository, that names `program` and would replace it by `kept`.
    fn prepared(root: &Path, list: &str) -> (PathBuf, PathBuf) {
        let (path, store) = (root.join("program"), root.join("store"));
        let side = store.join("comparing-1-0/side-0");
        mark::claim(&store).unwrap();
        fs::create_dir_all(&side).unwrap();
        fs::write(store.join("comparing-1-0").join(ALIVE), "").unwrap();
        let kept = side.join("own-0-0");
        for (file, text) in [(&path, "the user's"), (&kept, "theirs")] {
            fs::write(file, text).unwrap();
            File::options().write(true).open(file).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
        }
        let files = serde_json::to_string(&[Displaced { path: path.clone(), kept }]).unwrap();
        fs::write(side.join(LIST), list.replace("FILES", &files)).unwrap();
        (path, store)
    }

    #[test]
    fn a_list_that_came_with_the_store_is_not_believed() {
        let noted = |mark: &str| format!("{{\"mark\": {mark}, \"files\": FILES}}");
        let lists = ["FILES".into(), noted("null"), noted("{\"inode\": 12, \"changed\": [0, 0]}"), "".into()];
        for (list, marked) in lists.iter().flat_map(|list: &String| [(list, false), (list, true)]) {
            let root = tempfile::tempdir().unwrap();
            let (path, store) = prepared(root.path(), list);
            if marked {
                fs::write(store.join("comparing-1-0/side-0").join(MARK), "").unwrap();
            }
            assert!(put_back(&store, replace, &mut |_| ()).unwrap().is_empty(), "{list}");
            assert_eq!(fs::read_to_string(&path).unwrap(), "the user's");
            assert_eq!(foreign(&store), [store.join("comparing-1-0/side-0").join(LIST)]);
            assert_eq!(folders(&store), 1, "what it is is for the user to say");
        }
    }

    #[test]
    fn what_another_user_s_assay_lists_is_not_put_back() {
        for name in [LIST, MARK] {
            let root = tempfile::tempdir().unwrap();
            let (path, store) = killed(root.path());
            let side = workplaces(&store).next().unwrap().join("side-0");
            if let Err(error) = std::os::unix::fs::chown(side.join(name), Some(4711), None) {
                eprintln!("skipped: a file cannot be given to another user: {error}");
                return;
            }
            if name == MARK {
                // Its time changed with its owner: a list that says so, as the other user's would.
                let files = listed_files(&side);
                let found = fs::symlink_metadata(side.join(MARK)).unwrap();
                let mark = FileStamp { inode: found.ino(), changed: (found.ctime(), found.ctime_nsec()) };
                fs::write(side.join(LIST), serde_json::to_vec(&WrittenList { mark, files }).unwrap())
                    .unwrap();
            }
            assert!(put_back(&store, replace, &mut |_| ()).unwrap().is_empty(), "{name}");
            assert_eq!(fs::read_to_string(&path).unwrap(), "placed");
            assert_eq!(foreign(&store), [side.join(LIST)]);
        }
    }

    fn listed_files(side: &Path) -> Vec<Displaced> {
        serde_json::from_slice::<WrittenList>(&fs::read(side.join(LIST)).unwrap()).unwrap().files
    }

    #[test]
    fn what_a_copy_of_the_store_lists_is_not_put_back() {
        let root = tempfile::tempdir().unwrap();
        let (path, store) = killed(root.path());
        let copy = root.path().join("copy");
        let copied = std::process::Command::new("cp").arg("-a").args([&store, &copy]).status().unwrap();
        assert!(copied.success());
        assert!(put_back(&copy, replace, &mut |_| ()).unwrap().is_empty());
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), foreign(&copy).len()), ("placed", 1));
        assert!(foreign(&store).is_empty());
    }

    #[test]
    fn a_removal_that_was_killed_is_finished_by_the_next() {
        let root = tempfile::tempdir().unwrap();
        let (path, store) = killed(root.path());
        let folder = workplaces(&store).next().unwrap();
        forget(&folder);
        // In whatever order the rest goes.
        fs::remove_file(folder.join("side-0").join(MARK)).unwrap();
        assert!(foreign(&store).is_empty());
        assert!(put_back(&store, replace, &mut |_| ()).unwrap().is_empty());
        assert_eq!((folders(&store), fs::read_to_string(&path).unwrap().as_str()), (0, "placed"));
    }

    #[test]
    fn a_folder_that_only_has_such_a_name_stays() {
        let root = tempfile::tempdir().unwrap();
        let (path, store) = killed(root.path());
        let named = |name: &str| store.join(format!("{PREFIX}{name}"));
        for name in ["notes", "linked"] {
            fs::create_dir(named(name)).unwrap();
            fs::write(named(name).join("page"), "precious").unwrap();
        }
        std::os::unix::fs::symlink("page", named("linked").join(ALIVE)).unwrap();
        assert_eq!(put_back(&store, replace, &mut |_| ()).unwrap(), [path]);
        assert_eq!(folders(&store), 2);
        assert_eq!(entries(&named("notes")), [named("notes").join("page")]);
        assert_eq!(entries(&named("linked")).len(), 2);
    }

    #[test]
    fn a_folder_in_which_nothing_was_made_yet_goes_and_only_that() {
        let root = tempfile::tempdir().unwrap();
        let (_, store) = killed(root.path());
        put_back(&store, replace, &mut |_| ()).unwrap();
        let named = |name: &str| store.join(format!("{PREFIX}{name}"));
        for name in ["7-0", "7-1", "notes", "7-x"] {
            fs::create_dir(named(name)).unwrap();
        }
        fs::write(named("7-1").join("page"), "precious").unwrap();
        put_back(&store, replace, &mut |_| ()).unwrap();
        assert!(!named("7-0").exists());
        assert!(["7-1", "notes", "7-x"].iter().all(|name| named(name).is_dir()));
    }

    #[test]
    fn nothing_is_looked_for_in_a_folder_that_is_no_store() {
        let root = tempfile::tempdir().unwrap();
        let mine = root.path().join("comparing-notes");
        fs::create_dir(&mine).unwrap();
        fs::write(mine.join(ALIVE), "").unwrap();
        assert!(put_back(root.path(), replace, &mut |_| ()).unwrap().is_empty());
        assert!(Workplace::new(root.path(), &mut |_| ()).is_err());
        assert_eq!(entries(root.path()), [mine]);
    }

    #[test]
    fn a_link_that_leads_elsewhere_meanwhile_is_not_followed() {
        let root = tempfile::tempdir().unwrap();
        let (path, store) = killed(root.path());
        let elsewhere = root.path().join("elsewhere");
        fs::rename(&path, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
        assert!(put_back(&store, replace, &mut |_| ()).unwrap().is_empty());
        assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "placed");
        assert!(path.is_symlink());
    }

    #[test]
    fn a_file_that_was_built_again_is_left_alone() {
        let root = tempfile::tempdir().unwrap();
        let (path, store) = killed(root.path());
        let later = std::time::SystemTime::now() + std::time::Duration::from_secs(60);
        File::options().write(true).open(&path).unwrap().set_modified(later).unwrap();
        assert!(put_back(&store, replace, &mut |_| ()).unwrap().is_empty());
        assert_eq!(fs::read_to_string(&path).unwrap(), "placed");
    }

    #[test]
    fn a_file_that_was_built_again_with_the_same_date_is_left_alone_and_a_copied_one_put_back() {
        for (text, back) in [("theirs", "theirs"), ("placed", "built")] {
            let root = tempfile::tempdir().unwrap();
            let (path, store) = killed(root.path());
            let kept = workplaces(&store).next().unwrap().join("side-0/own-0-0");
            fs::remove_file(&path).unwrap();
            fs::write(&path, text).unwrap();
            dated_as(&path, &kept);
            put_back(&store, replace, &mut |_| ()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), back);
        }
    }

    #[test]
    fn of_many_that_put_back_at_once_one_does_and_the_others_wait_for_it() {
        let root = tempfile::tempdir().unwrap();
        let (path, store) = killed(root.path());
        let slow = |path: &Path, kept: &Path| {
            std::thread::sleep(std::time::Duration::from_millis(50));
            replace(path, kept)
        };
        let all = || {
            let done = put_back(&store, slow, &mut |_| ()).unwrap();
            // Whoever returns finds it done.
            assert_eq!(fs::read_to_string(&path).unwrap(), "built");
            done.len()
        };
        let done: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(all)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!((done, folders(&store)), (1, 0));
    }

    #[test]
    fn each_process_has_a_folder_of_its_own_and_leaves_none() {
        let root = tempfile::tempdir().unwrap();
        let [first, second] = [(); 2].map(|()| Workplace::new(root.path(), &mut |_| ()).unwrap());
        assert_ne!(first.folder(), second.folder());
        assert!(put_back(root.path(), replace, &mut |_| ()).unwrap().is_empty());
        assert!(first.folder().is_dir() && second.folder().is_dir());
        drop((first, second));
        assert_eq!(folders(root.path()), 0);
    }

    #[test]
    fn another_process_keeps_what_it_displaced_until_it_dies() {
        if let Some(root) = std::env::var_os(SECOND).map(PathBuf::from) {
            let workplace = Workplace::new(&root.join("store"), &mut |_| ()).unwrap();
            displace(&root, workplace.folder());
            fs::write(root.join("displaced"), "").unwrap();
            // Until it is killed.
            let _ = io::Read::read(&mut io::stdin(), &mut [0]);
            return;
        }
        let root = tempfile::tempdir().unwrap();
        let own = "compare::left_behind::tests::another_process_keeps_what_it_displaced_until_it_dies";
        let mut second = std::process::Command::new(std::env::current_exe().unwrap())
            .args([own, "--exact"])
            .env(SECOND, root.path())
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        while !root.path().join("displaced").exists() {
            assert_eq!(second.try_wait().unwrap(), None, "the second process has ended");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let (store, path) = (root.path().join("store"), root.path().join("program"));
        assert!(put_back(&store, replace, &mut |_| ()).unwrap().is_empty());
        assert_eq!(fs::read_to_string(&path).unwrap(), "placed");
        second.kill().unwrap();
        second.wait().unwrap();
        assert_eq!(put_back(&store, replace, &mut |_| ()).unwrap(), std::slice::from_ref(&path));
        assert_eq!(fs::read_to_string(&path).unwrap(), "built");
    }
    #[test]
    fn who_waits_for_another_says_so_at_once_and_when_it_is_over() {
        let root = tempfile::tempdir().unwrap();
        mark::claim(root.path()).unwrap();
        let mut held = Some(one(root.path(), &mut |_| panic!("nobody has it")).unwrap());
        let mut told = Vec::new();
        let place = Workplace::new(root.path(), &mut |event| {
            told.push(event);
            // What is waited for comes now.
            drop(held.take());
        });
        assert!(place.is_ok());
        let [Event::Waiting { wait: Wait::Store { .. }, seconds }, Event::WaitOver] = &told[..] else {
            panic!("{told:?}")
        };
        assert!(*seconds < 1.0, "{seconds}");
    }
}
