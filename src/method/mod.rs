//! The methods: one table ([`METHODS`]) with name, documentation, what each yields, what it needs and
//! what runs it; one file each. `partition` is what the four kernel k-means methods share,
//! `spectral` what the two spectral ones share.

mod aasc;
mod kkm;
mod mkkm;
mod partition;
mod problem;
mod reading;
mod rkkm;
mod rmkkm;
mod sc;
mod scmk;
mod solution;
mod spectral;

use crate::error::{Error, Result};
use crate::labels;
use crate::settings::{Labels, Method, Settings};
pub(crate) use problem::Problem;
pub(crate) use scmk::graph;
pub(crate) use solution::Remark;
pub use solution::{Certified, Seconds, Solution};

/// One row of the table of methods.
#[derive(Clone, Copy)]
pub struct Spec {
    /// As the option `method` calls it.
    pub name: &'static str,
    /// What it minimises, and who proposed it.
    pub doc: &'static str,
    /// What an iteration is, of which `max_iterations` bounds the number.
    pub iteration: &'static str,
    /// Whether it learns the weights of the kernels.
    pub learns_weights: bool,
    /// Whether it has a similarity graph Z, with its certificate.
    pub has_similarity: bool,
    /// Whether it has an embedding, and labels are read from it.
    pub has_embedding: bool,
    /// Bytes a fit needs at most beyond the kernels, by samples and clusters.
    pub(crate) memory: fn(usize, usize, &Settings) -> usize,
    /// Runs it; from the result of an earlier fit if it can make use of it.
    pub(crate) fit: fn(Problem<'_, '_>, Option<&Solution>) -> Result<Solution>,
}

/// Every method, in the order in which they are listed; the first is the default.
pub const METHODS: &[Spec] = &[
    scmk::METHOD,
    kkm::METHOD,
    sc::METHOD,
    rkkm::METHOD,
    mkkm::METHOD,
    aasc::METHOD,
    rmkkm::METHOD,
];

impl Method {
    /// The method of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        METHODS.iter().position(|spec| spec.name == name).map(Self)
    }

    /// Its row of the table.
    pub fn spec(self) -> &'static Spec {
        &METHODS[self.0]
    }

    /// As the option `method` calls it.
    pub fn name(self) -> &'static str {
        self.spec().name
    }
}

/// Bytes a fit needs at most beyond the kernels, from sizes and settings alone.
pub(crate) fn memory_required(samples: usize, clusters: usize, settings: &Settings) -> usize {
    (settings.method.spec().memory)(samples, clusters, settings)
}

/// Runs the method that the settings name; from an earlier solution of the same method if it can
/// make use of it.
pub(crate) fn solve(problem: Problem<'_, '_>, earlier: Option<&Solution>) -> Result<Solution> {
    let spec = problem.settings.method.spec();
    let solution = (spec.fit)(problem, earlier)?;
    solution.check_finite(spec.name)?;
    Ok(solution)
}

/// Refuses ways of reading labels that could not be interrupted.
pub(crate) fn check(clusters: usize, settings: &Settings) -> Result<()> {
    let reads = settings.method.spec().has_embedding;
    let rotates = matches!(settings.labels, Labels::Rotation | Labels::Qr);
    if reads && rotates && clusters > labels::MOST_ROTATED {
        return Err(Error::InvalidArgument {
            name: "labels".to_owned(),
            value: format!("'{}'", settings.labels.name()),
            allowed: format!("kmeans for more than {} clusters", labels::MOST_ROTATED),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_is_found_by_its_name_and_documented() {
        for (place, spec) in METHODS.iter().enumerate() {
            assert_eq!(Method::from_name(spec.name), Some(Method(place)));
            for text in [spec.doc, spec.iteration] {
                assert!(!text.is_empty() && !text.contains('\n'), "{}", spec.name);
            }
        }
        assert_eq!(Method::from_name("SCMK"), None);
        assert_eq!(Method::default().name(), "scmk");
    }
}
