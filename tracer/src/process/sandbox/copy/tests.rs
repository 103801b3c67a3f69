//! Test how the copy of a working directory is made, and removed.

use std::io::Write;
use std::thread::sleep;
use std::time::Instant;

use super::*;

fn original() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("deep")).expect("made");
    fs::write(folder.path().join("deep/file"), "text").expect("written");
    symlink("deep/file", folder.path().join("link")).expect("made");
    folder
}

#[test]
fn a_copy_is_made_anew_only_after_a_change() {
    is_made_anew_only_after_a_change(|_| ());
    is_made_anew_only_after_a_change(|copied| {
        copied.watch = None;
        // The times of files may be those of the latest tick of the machine's clock.
        sleep(Duration::from_millis(20));
    });
}

fn is_made_anew_only_after_a_change(prepare: impl Fn(&mut Copied)) {
    let original = original();
    let mut copied = Copied::new(original.path()).expect("copied");
    prepare(&mut copied);
    assert!(!copied.refresh(false).expect("looked at"));
    let file = copied.directory().join("deep/file");
    // As who writes through a mapping.
    drop(File::options().write(true).open(&file).expect("opened"));
    assert!(!copied.refresh(false).expect("looked at"));
    fs::write(&file, "more").expect("written");
    assert!(copied.refresh(false).expect("made anew"));
    assert!(!copied.refresh(true).expect("looked at"));
    assert_eq!(fs::read_to_string(&file).expect("there"), "text");
    assert_eq!(fs::read_link(copied.directory().join("link")).expect("there"), Path::new("deep/file"));
    assert_eq!(fs::read_to_string(original.path().join("deep/file")).expect("there"), "text");
}

#[test]
fn a_copy_is_without_kept_runs_however_many_there_are() {
    let original = original();
    for shelf in [original.path().join(SHELF), original.path().join("deep").join(SHELF)] {
        fs::create_dir_all(shelf.join("1-program")).expect("made");
        let trace = File::create(shelf.join("1-program/trace")).expect("made");
        trace.set_len(MOST_BYTES).expect("a file with nothing in it");
    }
    let copied = Copied::new(original.path()).expect("copied");
    let found: Vec<_> = copied.contents.iter().map(|item| item.path.file_name()).collect();
    // With the folder around the copy.
    assert_eq!(found, ["world", "run", "link", "deep", "file"].map(|name| Some(OsStr::new(name))));
}

#[test]
fn a_folder_that_is_too_large_is_not_copied() {
    let original = original();
    let large = File::create(original.path().join("deep/large")).expect("made");
    large.set_len(MOST_BYTES).expect("a file with nothing in it");
    let refused = Copied::new(original.path()).err().expect("refused");
    assert!(refused.to_string().contains("more than 1 GiB"), "{refused}");
}

#[test]
fn a_copy_is_without_other_copies_in_the_same_folder() {
    let original = original();
    let copies = original.path().join("deep");
    fs::create_dir_all(copies.join("stripe-sandbox-other/world")).expect("made");
    fs::create_dir(copies.join("stripes")).expect("made");
    let data = fs::metadata(&copies).expect("there");
    let mut budget = Budget { copies: Some((data.dev(), data.ino())), ..Budget::default() };
    let target = tempfile::tempdir().expect("a folder");
    let to = target.path().join("copy");
    copy(&TreePlace::new(original.path()), &TreePlace::new(&to), &mut budget).expect("copied");
    let names = fs::read_dir(to.join("deep")).expect("copied").flatten().map(|entry| entry.file_name());
    let mut names: Vec<_> = names.collect();
    names.sort();
    assert_eq!(names, ["file", "stripes"]);
}

#[test]
fn a_file_that_grows_is_copied_as_it_was_measured() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, is_over) = (folder.path().join("growing"), std::sync::atomic::AtomicBool::new(false));
    fs::write(&path, vec![b'x'; 1 << 20]).expect("written");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut file = File::options().append(true).open(&path).expect("opened");
            while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                file.write_all(&[b'y'; 1 << 16]).expect("room");
            }
        });
        for number in 0..5 {
            let before = fs::metadata(&path).expect("there").len();
            let to = folder.path().join(format!("copy{number}"));
            copy(&TreePlace::new(&path), &TreePlace::new(&to), &mut Budget::default()).expect("copied");
            let copied = fs::metadata(&to).expect("copied").len();
            let after = fs::metadata(&path).expect("there").len();
            assert!((before..=after).contains(&copied), "{before} {copied} {after}");
        }
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

#[test]
fn a_deep_folder_is_copied_with_what_is_at_its_end() {
    // With as much of a stack as a first thread has.
    let thread = std::thread::Builder::new().stack_size(8 << 20).spawn(copy_a_deep_folder);
    thread.expect("a thread").join().expect("no panic");
}

fn copy_a_deep_folder() {
    // Deeper than a path may be long.
    const DEPTH: usize = 3000;
    let original = tempfile::tempdir().expect("a folder");
    let mut spot = TreePlace::new(original.path());
    for _ in 0..DEPTH {
        spot = spot.anchored().expect("opened").below("d".as_ref());
        fs::create_dir(&spot.short).expect("made");
    }
    fs::write(spot.anchored().expect("opened").below("file".as_ref()).short, "text").expect("written");
    let started = Instant::now();
    let copied = Copied::new(original.path()).expect("copied");
    assert_eq!(copied.contents.len(), DEPTH + 3);
    assert!(copied.contents[DEPTH + 2].path.ends_with("d/file"));
    // By full paths it takes as many steps as the square of the depth.
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    drop(copied);
    remove(original.path()).expect("removed");
}

#[test]
fn nothing_stays_of_a_copy_whose_folders_are_locked() {
    let original = original();
    let copied = Copied::new(original.path()).expect("copied");
    let place = copied.directory().to_owned();
    fs::set_permissions(place.join("deep"), Permissions::from_mode(0o0)).expect("set");
    drop(copied);
    assert!(!place.exists());
}

#[test]
fn copies_of_programs_that_were_killed_are_removed() {
    let base = tempfile::tempdir().expect("a folder");
    let left = base.path().join("stripe-sandbox-left");
    fs::create_dir_all(left.join("run")).expect("made");
    fs::write(left.join("lock"), "").expect("written");
    let used = base.path().join("stripe-sandbox-used");
    fs::create_dir(&used).expect("made");
    let lock = File::create(used.join("lock")).expect("made");
    lock.lock().expect("locked");
    sweep(base.path());
    assert!(!left.exists());
    assert!(used.exists());
}

#[test]
fn a_file_that_is_copied_is_not_marked_as_read() {
    let original = original();
    let file = original.path().join("deep/file");
    let long_ago = TimeSpec::new(1_000_000_000, 0);
    utimensat(nix::fcntl::AT_FDCWD, &file, &long_ago, &long_ago, UtimensatFlags::FollowSymlink).expect("set");
    let copied = Copied::new(original.path()).expect("copied");
    assert_eq!(fs::read(copied.directory().join("deep/file")).expect("copied"), b"text");
    assert_eq!(fs::metadata(&file).expect("there").atime(), long_ago.tv_sec());
}

#[test]
fn a_run_that_takes_too_much_of_the_disk_is_told_whatever_others_give_back_meanwhile() {
    const MOST: u64 = 1 << 20;
    let original = original();
    let others = tempfile::tempdir().expect("a folder of others");
    let take = |path: &Path, bytes: u64| fs::write(path, vec![1; bytes as usize]).expect("room");
    take(&others.path().join("large"), 8 * MOST);
    let mut copied = Copied::new(original.path()).expect("copied");
    copied.most = (MOST, FILES);
    assert!(!copied.is_full());
    take(&copied.directory().join("large"), 2 * MOST);
    fs::remove_file(others.path().join("large")).expect("removed");
    assert!(copied.is_full());
    assert!(copied.refresh(false).expect("made anew") && !copied.is_full());
    take(&others.path().join("large"), 8 * MOST);
    assert!(!copied.is_full());
}
