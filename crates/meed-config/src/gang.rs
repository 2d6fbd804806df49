//! Gangs as people write them: `gang = true` for all tasks of a group, a number for so many at
//! least; `same = "rack"` for nodes with one value of that label. `gang = "joint"` is of one gang
//! with all groups that come with it.

use meed::Gang;
use serde::{Deserialize, Serialize};

/// How many tasks start together.
///
/// ```
/// use meed::Gang;
/// use meed_config::gang::GangForm;
///
/// let all = GangForm::read(Some(GangForm::All(true)), None, 8)?;
/// assert_eq!(all.as_deref(), Some(&Gang::of(8)));
/// assert!(GangForm::read(Some(GangForm::Least(9)), None, 8).is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(untagged, expecting = "wanted is true, how many tasks start together, or \"joint\"")]
pub enum GangForm {
    /// All of the group, or each as it fits.
    All(bool),
    /// At least so many.
    Least(i64),
    /// All of the group, together with all of the other groups that come with it.
    Joint(Joint),
}

/// The word for it.
///
/// It is part of a [`GangForm`], whose page has an example.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Joint {
    /// See [`GangForm::Joint`].
    #[serde(rename = "joint")]
    Joint,
}

impl GangForm {
    /// `gang = "joint"`.
    pub const JOINT: GangForm = GangForm::Joint(Joint::Joint);

    /// The gang of a group of `count` tasks that says this, near each other by the label `same`;
    /// `None`: each starts as it fits, anywhere.
    ///
    /// # Errors
    ///
    /// A number that is not from 1 to `count`, and a label without a name, in words.
    ///
    /// ```
    /// use meed::Gang;
    /// use meed_config::gang::GangForm;
    ///
    /// let all = GangForm::read(Some(GangForm::All(true)), Some("rack"), 8)?;
    /// assert_eq!(all.as_deref(), Some(&Gang::of(8).within("rack")));
    /// assert_eq!(GangForm::read(Some(GangForm::Least(1)), None, 8)?, None);
    /// assert!(GangForm::read(Some(GangForm::Least(9)), None, 8).is_err());
    /// let joint = GangForm::read(Some(GangForm::JOINT), None, 1)?;
    /// assert_eq!(joint.as_deref(), Some(&Gang::part(1)));
    /// assert_eq!(GangForm::of(joint.as_deref()), Some(GangForm::JOINT));
    /// # Ok::<(), String>(())
    /// ```
    pub fn read(
        form: Option<GangForm>,
        same: Option<&str>,
        count: u32,
    ) -> Result<Option<Box<Gang>>, String> {
        let least = match form {
            None | Some(GangForm::All(false)) => 1,
            Some(GangForm::All(true) | GangForm::Joint(_)) => count,
            Some(GangForm::Least(least)) => {
                u32::try_from(least).ok().filter(|least| (1..=count).contains(least)).ok_or_else(
                    || format!("gang is {least}; it must be 1 to {count}, the tasks of its group"),
                )?
            }
        };
        if same == Some("") {
            return Err("same names no label; give the label of nodes, \"rack\" for one".to_owned());
        }
        let joint = matches!(form, Some(GangForm::Joint(_)));
        let gang = Gang { least, same: same.map(str::to_owned), joint };
        Ok((least > 1 || joint || gang.same.is_some()).then(|| Box::new(gang)))
    }

    /// What is written for a gang; `None` where nothing need be.
    pub fn of(gang: Option<&Gang>) -> Option<GangForm> {
        if gang.is_some_and(|gang| gang.joint) {
            return Some(GangForm::JOINT);
        }
        gang.filter(|gang| gang.least > 1).map(|gang| GangForm::Least(i64::from(gang.least)))
    }
}
