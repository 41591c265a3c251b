//! The model: kernels, options and, after a fit, its result. The C handle is this type.

use crate::error::{Error, Result, quoted};
use crate::fitted::Fit;
use crate::kernel::{self, Features, Gram, Label};
use crate::matrix::{Matrix, Similarity};
use crate::memory;
use crate::method;
use crate::metrics;
use crate::monitor::{self, Control, Limit, Monitor, ProgressFn, Step};
use crate::options::Options;
use crate::resources;
use crate::suggest::{self, Suggestion};
use crate::threads;
use std::fmt;

/// The methods that have a part of a result, for [`Model::part`].
pub(crate) const SIMILARITY: Option<fn(&method::Spec) -> bool> = Some(|spec| spec.has_similarity);
pub(crate) const EMBEDDING: Option<fn(&method::Spec) -> bool> = Some(|spec| spec.has_embedding);

/// What one call added: the kernels of a feature matrix, or one kernel.
#[derive(Debug)]
struct View {
    /// As the caller calls it.
    name: Option<String>,
    /// Number of the first kernel behind it.
    end: usize,
}

/// Who may stop a call, and who is told how far it is.
#[derive(Default)]
pub struct Watch<'w> {
    /// Stops the call from another thread; none if absent.
    pub control: Option<&'w Control>,
    /// Called on this thread, and stops the call by returning true.
    pub progress: Option<ProgressFn<'w>>,
}

/// What messages call a view.
pub(crate) struct ViewName<'n> {
    name: Option<&'n str>,
    number: usize,
}

impl fmt::Display for ViewName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name {
            Some(name) => write!(f, "view {}", quoted(name)),
            None => write!(f, "view {}", self.number),
        }
    }
}

/// A clustering problem that is filled step by step, fitted and asked for its result.
///
/// Any change of kernels or options after a fit discards the result. A failed call leaves the
/// model as it was.
#[derive(Debug)]
pub struct Model<'a> {
    samples: usize,
    clusters: usize,
    kernels: Vec<Gram<'a>>,
    views: Vec<View>,
    /// The name that the next view is to have.
    next_view: Option<String>,
    options: Options,
    /// What was last found about the number of clusters.
    suggestion: Option<Suggestion>,
    fit: Option<Fit>,
    /// Whether options have changed since the fit, which is kept as a warm start only.
    stale: bool,
}

impl<'a> Model<'a> {
    /// A model of `samples` samples to be divided into `clusters` clusters; 0 lets the fit choose how
    /// many.
    pub fn new(samples: usize, clusters: usize) -> Result<Self> {
        if samples == 0 {
            return Err(Error::Dimension {
                what: "n_samples".to_owned(),
                given: 0,
                expected: "at least 1 expected".to_owned(),
            });
        }
        check_clusters(samples, clusters)?;
        let addressable = samples.checked_mul(samples).and_then(|entries| entries.checked_mul(8));
        if addressable.is_none_or(|bytes| bytes > isize::MAX as usize)
            || u32::try_from(samples).is_err()
        {
            return Err(Error::TooLarge {
                what: format!("a kernel of n_samples = {samples} squared"),
            });
        }
        Ok(Self {
            samples,
            clusters,
            kernels: Vec::new(),
            views: Vec::new(),
            next_view: None,
            options: Options::default(),
            suggestion: None,
            fit: None,
            stale: false,
        })
    }

    /// Number of samples.
    pub fn samples(&self) -> usize {
        self.samples
    }

    /// Number of clusters; if it is to be chosen, that of the last fit, and 0 before.
    pub fn clusters(&self) -> usize {
        match self.clusters {
            0 => self.result().map_or(0, |fit| fit.clusters),
            clusters => clusters,
        }
    }

    /// What the samples say about the number of clusters, from 2 or more to at most the number of
    /// samples; `None` leaves the range to the library. Kernels and options are those of a fit by
    /// `scmk`; a result stays.
    pub fn suggest_clusters(
        &mut self,
        range: Option<(usize, usize)>,
        watch: Watch<'_>,
    ) -> Result<&Suggestion> {
        self.check_kernels()?;
        let views = self.views_of_kernels()?;
        let (kernels, settings) = (&self.kernels, self.options.settings());
        let range = suggest::checked(range, self.samples)?;
        let nobody = Control::default();
        let control = watch.control.unwrap_or(&nobody);
        let suggestion = suggest::call(kernels, &views, range, settings, control, watch.progress)?;
        Ok(self.suggestion.insert(suggestion))
    }

    /// What the last [`Model::suggest_clusters`], or a fit that chose, has found.
    pub fn suggestion(&self) -> Result<&Suggestion> {
        let of_fit = || self.result().ok()?.suggestion.as_ref();
        self.suggestion.as_ref().or_else(of_fit).ok_or(Error::State(
            "there is no suggestion: ask for one, or fit with 0 clusters (a changed kernel or option \
             discards it)",
        ))
    }

    fn check_kernels(&self) -> Result<()> {
        match self.kernels.is_empty() {
            true => Err(Error::State("there is no kernel to fit: add a kernel or features first")),
            false => Ok(()),
        }
    }

    /// Changes the number of clusters, or lets the fit choose (0); kernels and options stay. A change
    /// discards the result.
    pub fn set_clusters(&mut self, clusters: usize) -> Result<()> {
        check_clusters(self.samples, clusters)?;
        if clusters != self.clusters {
            self.clusters = clusters;
            self.fit = None;
        }
        Ok(())
    }

    /// The kernels so far.
    pub fn kernels(&self) -> &[Gram<'a>] {
        &self.kernels
    }

    /// Number of views so far.
    pub fn views(&self) -> usize {
        self.views.len()
    }

    /// Names the view that the next call adds, or takes an earlier name back.
    pub fn name_view(&mut self, name: Option<&str>) -> Result<()> {
        const LONGEST: usize = 255;
        let Some(name) = name else {
            self.next_view = None;
            return Ok(());
        };
        if name.is_empty() || name.len() > LONGEST {
            return Err(Error::InvalidArgument {
                name: "name of a view".to_owned(),
                value: quoted(name),
                allowed: format!("from 1 to {LONGEST} bytes"),
            });
        }
        self.next_view = Some(memory::text(name, "the name of a view")?);
        Ok(())
    }

    /// The name of a view: as given, or "view 2", or "kernel 2" for one that was added as a kernel.
    pub fn view_name(&self, view: usize) -> Result<String> {
        let found = self.views.get(view).ok_or_else(|| self.no_such("view", view, self.views()))?;
        let first = self.kernels_of(view).start;
        match &found.name {
            Some(name) => memory::text(name, "the name of a view"),
            None if self.kernels[first].label().spec.is_none() => {
                Ok(format!("kernel {}", first + self.options.index_base))
            }
            None => Ok(format!("view {}", view + self.options.index_base)),
        }
    }

    /// The view a kernel belongs to.
    pub fn view_of(&self, kernel: usize) -> Result<usize> {
        if kernel >= self.kernels.len() {
            return Err(self.no_such("kernel", kernel, self.kernels.len()));
        }
        Ok(self.views.partition_point(|view| view.end <= kernel))
    }

    /// The name of a kernel: what it was built by, such as "gaussian(t=0.1)", after the name of its
    /// view if there are several; that of its view if it was added as a kernel.
    pub fn kernel_name(&self, kernel: usize) -> Result<String> {
        let view = self.view_of(kernel)?;
        match self.kernels[kernel].label().spec {
            None => self.view_name(view),
            Some(spec) if self.views.len() == 1 && self.views[view].name.is_none() => {
                Ok(spec.to_string())
            }
            Some(spec) => {
                let mut name = self.view_name(view)?;
                // At most a hundred characters.
                name.push_str(": ");
                name.push_str(&spec.to_string());
                Ok(name)
            }
        }
    }

    /// The share of each view in the last fit: its weights' part of the sum of all.
    pub fn view_weights(&self) -> Result<Vec<f64>> {
        let weights = &self.result()?.weights;
        let total: f64 = weights.iter().sum();
        let mut shares = memory::with_capacity(self.views.len(), "weights of the views")?;
        let share = |view| weights[self.kernels_of(view)].iter().sum::<f64>() / total;
        shares.extend((0..self.views.len()).map(share));
        Ok(shares)
    }

    /// The view of each kernel.
    fn views_of_kernels(&self) -> Result<Vec<usize>> {
        let mut views = memory::with_capacity(self.kernels.len(), "views")?;
        for view in 0..self.views.len() {
            views.extend(self.kernels_of(view).map(|_| view));
        }
        Ok(views)
    }

    fn kernels_of(&self, view: usize) -> std::ops::Range<usize> {
        let start = if view == 0 { 0 } else { self.views[view - 1].end };
        start..self.views[view].end
    }

    fn no_such(&self, what: &'static str, given: usize, count: usize) -> Error {
        Error::InvalidArgument {
            name: what.to_owned(),
            value: given.to_string(),
            allowed: format!("there are {count}, counted from 0"),
        }
    }

    /// Adds a copy of a kernel: column-major, `values[i + j * leading_dim]`.
    pub fn add_kernel(&mut self, values: &[f64], leading_dim: usize) -> Result<()> {
        self.add_kernel_watched(values, leading_dim, Watch::default())
    }

    /// As [`Model::add_kernel`].
    pub fn add_kernel_watched(
        &mut self,
        values: &[f64],
        leading_dim: usize,
        watch: Watch<'_>,
    ) -> Result<()> {
        let (label, samples) = (self.next_label(), self.samples);
        let square = self.samples.saturating_mul(self.samples);
        self.add(square.saturating_mul(size_of::<f64>()), 1, watch, |monitor| {
            let kernel = Gram::copied(label, values, samples, leading_dim, monitor)?;
            one(kernel)
        })
    }

    /// Adds a kernel without copying it: column-major, `values[i + j * leading_dim]`.
    pub fn borrow_kernel(&mut self, values: &'a [f64], leading_dim: usize) -> Result<()> {
        self.borrow_kernel_watched(values, leading_dim, Watch::default())
    }

    /// As [`Model::borrow_kernel`].
    pub fn borrow_kernel_watched(
        &mut self,
        values: &'a [f64],
        leading_dim: usize,
        watch: Watch<'_>,
    ) -> Result<()> {
        let (label, samples) = (self.next_label(), self.samples);
        self.add(0, 1, watch, |monitor| {
            one(Gram::borrowed(label, values, samples, leading_dim, monitor)?)
        })
    }

    /// Adds the kernels of a list ("paper", "gaussian(t=0.1); linear") built from features.
    pub fn add_features(&mut self, features: Features<'_>, list: &str) -> Result<()> {
        self.add_features_watched(features, list, Watch::default())
    }

    /// As [`Model::add_features`].
    pub fn add_features_watched(
        &mut self,
        features: Features<'_>,
        list: &str,
        watch: Watch<'_>,
    ) -> Result<()> {
        if features.samples != self.samples {
            return Err(Error::Dimension {
                what: format!("n_samples of {}", self.next_view_name()),
                given: features.samples,
                expected: format!("the model has {}", self.samples),
            });
        }
        let specs = kernel::parse(list)?;
        let first = self.next_label().number;
        let view = self.next_view_name().to_string();
        let bytes = kernel::memory_required(&features, specs.len());
        self.add(bytes, specs.len(), watch, |monitor| {
            kernel::build(features, &view, &specs, first, monitor)
        })
    }

    /// Removes all kernels.
    pub fn clear_kernels(&mut self) {
        self.kernels.clear();
        self.views.clear();
        self.suggestion = None;
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
            self.suggestion = None;
            self.stale = true;
            self.fit.take_if(|_| !self.options.warm_start);
        }
        Ok(())
    }

    /// Fits the model. `control` lets another thread cancel; `progress` is called on this thread
    /// and stops the fit by returning true.
    pub fn fit(&mut self, control: &Control, progress: Option<ProgressFn<'_>>) -> Result<&Fit> {
        self.check_kernels()?;
        let earlier = self.fit.as_ref().filter(|_| self.options.warm_start);
        let (kernels, settings) = (&self.kernels, self.options.settings());
        let views = self.views_of_kernels()?;
        let fit = Fit::new(kernels, &views, self.clusters, settings, earlier, control, progress)?;
        self.stale = false;
        // The last one is told, be it of a fit.
        if fit.suggestion.is_some() {
            self.suggestion = None;
        }
        Ok(self.fit.insert(fit))
    }

    /// The result of the last fit.
    pub fn result(&self) -> Result<&Fit> {
        self.fit.as_ref().filter(|_| !self.stale).ok_or(Error::State(
            "there is no result: fit the model first (a changed kernel or option discards it)",
        ))
    }

    /// The metric called `name` of `labels`, or else those of the last fit, against `truth`.
    pub fn metric(
        &self,
        name: &str,
        truth: &[i32],
        labels: Option<&[i32]>,
        watch: Watch<'_>,
    ) -> Result<f64> {
        let labels = match labels {
            Some(labels) => labels,
            None => &self.result()?.labels,
        };
        self.watched(0, watch, |monitor| {
            monitor.begin(Step::Labels, 1);
            metrics::metric_unless(name, truth, labels, &|| monitor.go_on())
        })
    }

    /// Runs `work`, which takes no more than a few vectors of memory, where it can be stopped.
    pub(crate) fn watched<T: Send>(
        &self,
        kernels: usize,
        watch: Watch<'_>,
        work: impl FnOnce(&Monitor<'_>) -> Result<T> + Send,
    ) -> Result<T> {
        let nobody = Control::default();
        let (control, limit) = (watch.control, Limit::of_call(self.options.time_limit));
        let threads = resources::workers(self.samples, &self.options);
        let small = resources::small_memory(self.samples, 1).saturating_add(256 * kernels);
        let _reserve = threads::set_aside(small, threads)?;
        let control = control.unwrap_or(&nobody);
        monitor::monitored(threads, limit, control, watch.progress, |monitor, _| work(monitor))?
    }

    /// Z of the last fit, if its method has one.
    pub fn similarity(&self) -> Result<&Similarity> {
        self.part(SIMILARITY, "similarity", |fit| fit.similarity.as_ref())
    }

    /// The embedding of the last fit, if its method has one.
    pub fn embedding(&self) -> Result<&Matrix> {
        self.part(EMBEDDING, "embedding", |fit| fit.embedding.as_ref())
    }

    /// A part of the result that not every method has; `what` names it, `has` tells which do.
    pub(crate) fn part<'m, T>(
        &'m self,
        has: Option<fn(&method::Spec) -> bool>,
        what: &'static str,
        get: impl FnOnce(&'m Fit) -> Option<T>,
    ) -> Result<T> {
        let fit = self.result()?;
        let spec = fit.method.spec();
        get(fit).ok_or_else(|| match fit.iterations() == 0 && has.is_none_or(|has| has(spec)) {
            true => Error::State("the fit was stopped before this part of the result was there"),
            false => Error::Absent { method: spec.name, what: what.to_owned() },
        })
    }

    /// Bytes a fit needs at most beyond the kernels, estimated from sizes and options alone.
    pub fn memory_required(&self) -> usize {
        let (clusters, suggesting) = match self.clusters {
            0 => {
                let bytes = suggest::memory_required(&self.kernels, self.samples);
                (suggest::most(self.samples), bytes)
            }
            clusters => (clusters, 0),
        };
        method::memory_required(self.samples, clusters, &self.options).saturating_add(suggesting)
    }

    /// Bytes of the kernels, and of the features behind them, that this library holds itself.
    pub fn memory_kernels(&self) -> usize {
        kernel::bytes_held(&self.kernels)
    }

    /// What messages call the next kernel.
    fn next_label(&self) -> Label {
        Label { number: self.kernels.len() + self.options.index_base, spec: None }
    }

    /// What messages call the next view.
    pub(crate) fn next_view_name(&self) -> ViewName<'_> {
        let number = self.views.len() + self.options.index_base;
        ViewName { name: self.next_view.as_deref(), number }
    }

    /// Adds a view of `count` kernels that `build` gives. It takes `bytes`, the kernels included.
    fn add(
        &mut self,
        bytes: usize,
        count: usize,
        watch: Watch<'_>,
        build: impl FnOnce(&Monitor<'_>) -> Result<Vec<Gram<'a>>> + Send,
    ) -> Result<()> {
        resources::check_limit(self.memory_kernels().saturating_add(bytes), &self.options)?;
        memory::reserve(&mut self.kernels, count, "kernels")?;
        memory::reserve(&mut self.views, 1, "kernels")?;
        let base = self.options.index_base;
        let kernels = self.watched(count, watch, build).map_err(|error| {
            let error = error.counted_from(base);
            // One without a name is told by the number of the kernel.
            if self.next_view.is_some() { error.of_view(&self.next_view_name()) } else { error }
        })?;
        self.kernels.extend(kernels);
        self.views.push(View { name: self.next_view.take(), end: self.kernels.len() });
        self.suggestion = None;
        self.fit = None;
        Ok(())
    }
}

fn check_clusters(samples: usize, clusters: usize) -> Result<()> {
    if clusters > samples {
        return Err(Error::Dimension {
            what: "n_clusters".to_owned(),
            given: clusters,
            expected: format!("from 1 to n_samples = {samples} expected, or 0 to choose"),
        });
    }
    Ok(())
}

fn one(kernel: Gram<'_>) -> Result<Vec<Gram<'_>>> {
    let mut kernels = memory::with_capacity(1, "kernels")?;
    kernels.push(kernel);
    Ok(kernels)
}
