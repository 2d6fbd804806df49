//! One story on two clusters at once, under Slurm alone and under Meed: what else the machine does
//! is the same for both.

use super::lab::Lab;

/// What the story tells of `other`, under Slurm alone, and of `lab`, under Meed, which starts when
/// the users are there.
pub(super) fn alone_and_ours<T: Send>(
    lab: &Lab,
    other: Lab,
    users: impl Fn(&Lab) -> Result<(), String> + Sync,
    story: impl Fn(&Lab) -> Result<T, String> + Sync,
) -> Result<(T, T), String> {
    let (users, story) = (&users, &story);
    let (alone, ours) = std::thread::scope(|scope| {
        let alone = scope.spawn(move || users(&other).and_then(|()| story(&other)));
        let ours = users(lab).and_then(|()| {
            let mut meed = lab.meed(&[])?;
            let ours = story(lab);
            meed.kill().and(ours)
        });
        let alone = alone.join();
        (alone.unwrap_or_else(|_| Err("Slurm alone ended without a word".to_owned())), ours)
    });
    Ok((alone?, ours?))
}
