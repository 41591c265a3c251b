//! The model: kernels, options and, after a fit, its result. The C handle is this type.

use crate::error::{Error, Result, nearest, quoted};
use crate::kernel::{self, Features};
use crate::lifeboat;
use crate::matrix::Kernel;
use crate::method;
use crate::monitor::{Control, ProgressFn};
use crate::options::Options;
use crate::result::{Fit, INFOS, InfoKind};
use crate::threads;

/// A clustering problem that is filled step by step, fitted and asked for its result.
///
/// Any change of kernels or options after a fit discards the result. A failed call leaves the
/// model as it was.
#[derive(Debug)]
pub struct Model<'a> {
    samples: usize,
    clusters: usize,
    kernels: Vec<Kernel<'a>>,
    options: Options,
    fit: Option<Fit>,
    /// Whether options have changed since the fit, which is kept as a warm start only.
    stale: bool,
}

impl<'a> Model<'a> {
    /// A model of `samples` samples to be divided into `clusters` clusters.
    pub fn new(samples: usize, clusters: usize) -> Result<Self> {
        if samples == 0 {
            return Err(Error::Dimension {
                what: "n_samples".to_owned(),
                given: 0,
                expected: "at least 1 expected".to_owned(),
            });
        }
        if clusters == 0 || clusters > samples {
            return Err(Error::Dimension {
                what: "n_clusters".to_owned(),
                given: clusters,
                expected: format!("from 1 to n_samples = {samples} expected"),
            });
        }
        let addressable = samples.checked_mul(samples).and_then(|entries| entries.checked_mul(8));
        if addressable.is_none_or(|bytes| bytes > isize::MAX as usize)
            || u32::try_from(samples).is_err()
        {
            return Err(Error::TooLarge {
                what: format!("a kernel of n_samples = {samples} squared"),
            });
        }
        let (kernels, options) = (Vec::new(), Options::default());
        Ok(Self { samples, clusters, kernels, options, fit: None, stale: false })
    }

    /// Number of samples.
    pub fn samples(&self) -> usize {
        self.samples
    }

    /// Number of clusters.
    pub fn clusters(&self) -> usize {
        self.clusters
    }

    /// The kernels so far.
    pub fn kernels(&self) -> &[Kernel<'a>] {
        &self.kernels
    }

    /// Adds a copy of a kernel: column-major, `values[i + j * leading_dim]`.
    pub fn add_kernel(&mut self, values: &[f64], leading_dim: usize) -> Result<()> {
        let (name, samples) = (self.next_name(), self.samples);
        let kernel = self.in_workers(|| Kernel::copied(name, values, samples, leading_dim))?;
        self.append([kernel])
    }

    /// Adds a kernel without copying it: column-major, `values[i + j * leading_dim]`.
    pub fn borrow_kernel(&mut self, values: &'a [f64], leading_dim: usize) -> Result<()> {
        let (name, samples) = (self.next_name(), self.samples);
        let kernel = self.in_workers(|| Kernel::borrowed(name, values, samples, leading_dim))?;
        self.append([kernel])
    }

    /// Adds the kernels of a list ("paper", "gaussian(t=0.1); linear") built from features.
    pub fn add_features(&mut self, features: Features<'_>, list: &str) -> Result<()> {
        if features.samples != self.samples {
            return Err(Error::Dimension {
                what: "n_samples of the features".to_owned(),
                given: features.samples,
                expected: format!("the model has {}", self.samples),
            });
        }
        let specs = kernel::parse(list)?;
        let first = self.kernels.len();
        let kernels = self.in_workers(|| kernel::build(features, &specs, first))?;
        self.append(kernels)
    }

    /// Removes all kernels.
    pub fn clear_kernels(&mut self) {
        self.kernels.clear();
        self.fit = None;
    }

    /// The options.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Changes options; see [`Options::set_real`] and its siblings. On an error nothing changes.
    pub fn set(&mut self, change: impl FnOnce(&mut Options) -> Result<()>) -> Result<()> {
        let mut options = self.options.clone();
        change(&mut options)?;
        if options != self.options {
            self.options = options;
            self.stale = true;
            self.fit.take_if(|_| !self.options.warm_start);
        }
        Ok(())
    }

    /// Fits the model. `control` lets another thread cancel; `progress` is called on this thread
    /// and stops the fit by returning true.
    pub fn fit(&mut self, control: &Control, progress: Option<ProgressFn<'_>>) -> Result<&Fit> {
        if self.kernels.is_empty() {
            return Err(Error::State("there is no kernel to fit: add a kernel or features first"));
        }
        let earlier = self.fit.as_ref().filter(|_| self.options.warm_start);
        let (kernels, options) = (&self.kernels, &self.options);
        let fit = method::fit(kernels, self.clusters, options, earlier, control, progress)?;
        self.stale = false;
        Ok(self.fit.insert(fit))
    }

    /// The result of the last fit.
    pub fn result(&self) -> Result<&Fit> {
        self.fit.as_ref().filter(|_| !self.stale).ok_or(Error::State(
            "there is no result: fit the model first (a changed kernel or option discards it)",
        ))
    }

    /// A whole-number info of the last fit; `kernels` and `memory_required` are known before it.
    pub fn info_int(&self, name: &str) -> Result<i64> {
        match self.info_kind(name)? {
            InfoKind::Int(_) if name == "memory_required" => Ok(self.memory_required() as i64),
            InfoKind::Int(_) if name == "kernels" => Ok(self.kernels.len() as i64),
            InfoKind::Int(get) => self.part(name, get),
            InfoKind::Real(_) => Err(Error::InvalidArgument {
                name: "info".to_owned(),
                value: quoted(name),
                allowed: "this info is a real number, not a whole one".to_owned(),
            }),
        }
    }

    /// A real info of the last fit; whole numbers are converted.
    pub fn info_real(&self, name: &str) -> Result<f64> {
        match self.info_kind(name)? {
            InfoKind::Int(_) => Ok(self.info_int(name)? as f64),
            InfoKind::Real(get) => self.part(name, get),
        }
    }

    /// A part of the result that not every method has; `what` names it.
    pub fn part<'m, T>(&'m self, what: &str, get: impl FnOnce(&'m Fit) -> Option<T>) -> Result<T> {
        let fit = self.result()?;
        get(fit).ok_or_else(|| match fit.iterations() {
            0 => Error::State("the fit was stopped before this part of the result was there"),
            _ => Error::Absent { method: fit.method.name(), what: what.to_owned() },
        })
    }

    /// Bytes a fit needs at most beyond the kernels, estimated from sizes and options alone.
    pub fn memory_required(&self) -> usize {
        method::memory_required(self.samples, self.clusters, &self.options)
    }

    fn info_kind(&self, name: &str) -> Result<InfoKind> {
        let found = INFOS.iter().find(|(known, ..)| *known == name);
        found.map(|&(_, kind, _)| kind).ok_or_else(|| Error::UnknownName {
            kind: "info",
            name: name.to_owned(),
            nearest: nearest(name, INFOS.iter().map(|(known, ..)| *known)),
        })
    }

    fn next_name(&self) -> String {
        format!("kernel {}", self.kernels.len())
    }

    fn in_workers<T: Send>(&self, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        let threads = threads::count(self.options.threads);
        let _boat = lifeboat::launch(method::small_memory(self.samples, 1), threads)?;
        threads::run(threads, work)?
    }

    fn append(&mut self, kernels: impl IntoIterator<Item = Kernel<'a>>) -> Result<()> {
        self.kernels.extend(kernels);
        self.fit = None;
        Ok(())
    }
}
