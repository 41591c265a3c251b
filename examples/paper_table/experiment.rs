//! The fits: every method on every data set, the way the paper has it.

use crate::data::{Data, set};
use indicatif::{ProgressBar, ProgressStyle};
use scmk::{Control, Fit, Model, metrics};
use serde::{Serialize, Serializer};
use std::error::Error;
use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

pub const ALPHAS: [f64; 8] = [1e-5, 1e-4, 1e-3, 0.01, 0.1, 1.0, 10.0, 100.0];
pub const BETAS: [f64; 2] = [1e-6, 1e-5];
const GAMMAS: [f64; 9] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

/// A column of the table.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Method {
    Kkm,
    Sc,
    Rkkm,
    Scsk,
    Mkkm,
    Aasc,
    Rmkkm,
    Scmk,
}

impl Method {
    pub const ALL: [Self; 8] = [
        Self::Kkm,
        Self::Sc,
        Self::Rkkm,
        Self::Scsk,
        Self::Mkkm,
        Self::Aasc,
        Self::Rmkkm,
        Self::Scmk,
    ];

    /// As the paper writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kkm => "KKM",
            Self::Sc => "SC",
            Self::Rkkm => "RKKM",
            Self::Scsk => "SCSK",
            Self::Mkkm => "MKKM",
            Self::Aasc => "AASC",
            Self::Rmkkm => "RMKKM",
            Self::Scmk => "SCMK",
        }
    }

    /// The value of the library's option `method`.
    fn option(self) -> String {
        if self == Self::Scsk { "scmk".to_owned() } else { self.name().to_lowercase() }
    }

    /// Whether it takes one kernel at a time; the table then has the best and the average.
    pub fn is_single(self) -> bool {
        matches!(self, Self::Kkm | Self::Sc | Self::Rkkm | Self::Scsk)
    }

    /// The settings that are run, as options "name=value". One inner list is run in order on one
    /// model, so that a fit may start from its neighbour.
    fn grid(self) -> Vec<Vec<Variant>> {
        let variants = |name: &str, values: &[&str]| -> Vec<Vec<Variant>> {
            let one = |value: &&str| {
                vec![Variant { variant: format!("{name}={value}"), ..Variant::default() }]
            };
            values.iter().map(one).collect()
        };
        match self {
            Self::Kkm | Self::Rkkm | Self::Mkkm => vec![vec![Variant::default()]],
            Self::Sc | Self::Aasc => variants("laplacian", &["symmetric", "unnormalized"]),
            Self::Rmkkm => {
                let gammas = GAMMAS.map(|gamma| gamma.to_string());
                variants("gamma", &gammas.each_ref().map(String::as_str))
            }
            Self::Scsk | Self::Scmk => {
                // Along one path in which neighbours differ little: most of the work is where
                // alpha changes. Downwards, since a dense Z is cheap to make sparser: upwards
                // took one and a half times as long on TR45 and ORL.
                let mut path = Vec::new();
                for alpha in ALPHAS.into_iter().rev() {
                    for beta in BETAS {
                        for embedding in ["model", "normalized"] {
                            let variant = format!("embedding={embedding}");
                            path.push(Variant { variant, alpha: Some(alpha), beta: Some(beta) });
                        }
                    }
                }
                vec![path]
            }
        }
    }

    /// About how long one inner list of the grid takes, in any unit, for the time left.
    fn cost(self, samples: usize, clusters: usize) -> u64 {
        let n = samples as f64;
        let cube = n * n * n * 1e-6;
        let (square, c) = (n * n * 1e-3, clusters as f64);
        let cost = match self {
            Self::Kkm | Self::Rkkm => 0.2 * square,
            Self::Mkkm | Self::Rmkkm => 2.0 * square,
            Self::Sc => 0.3 * cube,
            Self::Aasc => 1.0 * cube,
            Self::Scsk | Self::Scmk => 50.0 * cube * (1.0 + 10.0 * c / n),
        };
        1 + cost as u64
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Method {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|method| method.name().eq_ignore_ascii_case(text));
        found.ok_or_else(|| {
            format!("no method '{text}': one of {}", Self::ALL.map(Self::name).join(", "))
        })
    }
}

impl Serialize for Method {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// What varies within a method.
#[derive(Clone, Debug, Default)]
struct Variant {
    /// An option "name=value" other than alpha and beta, or nothing.
    variant: String,
    alpha: Option<f64>,
    beta: Option<f64>,
}

/// A data set with its twelve kernels.
pub struct Set {
    pub name: String,
    pub data: Data,
    /// Name and values of each kernel.
    pub kernels: Vec<(String, Vec<f64>)>,
}

impl Set {
    pub fn load(folder: &Path, name: &str) -> Result<Self, Box<dyn Error>> {
        let data = Data::load(folder, name)
            .map_err(|error| format!("data set {name} in '{}': {error}", folder.display()))?;
        let model = data.model("paper", &[])?;
        let values = |kernel: &scmk::kernel::Gram<'_>| {
            (0..data.samples).flat_map(|j| kernel.column(j).unwrap_or_default()).collect()
        };
        let mut kernels = Vec::new();
        for (k, kernel) in model.kernels().iter().enumerate() {
            kernels.push((model.kernel_name(k)?, values(kernel)));
        }
        Ok(Self { name: name.to_owned(), data, kernels })
    }

    /// A model of one of the kernels, or of all.
    pub fn model(&self, kernel: Option<usize>) -> scmk::Result<Model<'_>> {
        let mut model = Model::new(self.data.samples, self.data.clusters())?;
        set(&mut model, &["preset=paper", "threads=1"])?;
        for (k, (_, values)) in self.kernels.iter().enumerate() {
            if kernel.is_none_or(|only| only == k) {
                model.borrow_kernel(values, self.data.samples)?;
            }
        }
        Ok(model)
    }
}

/// One fit: a line of results.csv. Metrics are percentages.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub dataset: String,
    pub method: Method,
    pub kernel: String,
    pub variant: String,
    pub alpha: Option<f64>,
    pub beta: Option<f64>,
    pub accuracy: f64,
    pub nmi: f64,
    pub purity: f64,
    pub inverse_purity: f64,
    pub objective: f64,
    pub iterations: usize,
    pub outcome: String,
    pub kkt_residual: Option<f64>,
    pub components: Option<usize>,
    pub seconds: f64,
    #[serde(serialize_with = "joined")]
    pub weights: Vec<f64>,
}

fn joined<S: Serializer>(weights: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
    let texts: Vec<String> = weights.iter().map(|weight| format!("{weight:.6e}")).collect();
    serializer.serialize_str(&texts.join(" "))
}

#[derive(Clone, Copy)]
pub struct Settings {
    pub repetitions: usize,
    pub cold: bool,
}

/// A list of fits that one worker makes in order.
struct Job<'s> {
    set: &'s Set,
    method: Method,
    kernel: Option<usize>,
    variants: Vec<Variant>,
    cost: u64,
}

impl Job<'_> {
    fn run(&self, settings: Settings) -> scmk::Result<Vec<Row>> {
        let mut model = self.set.model(self.kernel)?;
        let method = format!("method={}", self.method.option());
        let warm_start = format!("warm_start={}", u8::from(!settings.cold));
        let restarts = format!("restarts={}", settings.repetitions);
        set(&mut model, &[&method, &warm_start, &restarts])?;
        let mut rows = Vec::new();
        for Variant { variant, alpha, beta } in &self.variants {
            if !variant.is_empty() {
                set(&mut model, &[variant])?;
            }
            for (name, value) in [("alpha", alpha), ("beta", beta)] {
                if let Some(value) = value {
                    model.set(|options| options.set_real(name, *value))?;
                }
            }
            let fit = model.fit(&Control::default(), None)?;
            let metric = |name| percent(name, &self.set.data, fit);
            rows.push(Row {
                dataset: self.set.name.clone(),
                method: self.method,
                kernel: self.kernel.map_or("all", |k| &self.set.kernels[k].0).to_owned(),
                variant: variant.clone(),
                alpha: *alpha,
                beta: *beta,
                accuracy: metric("accuracy"),
                nmi: metric("nmi"),
                purity: metric("purity"),
                inverse_purity: metric("inverse_purity"),
                objective: fit.objective,
                iterations: fit.iterations(),
                outcome: fit.outcome.name().to_owned(),
                kkt_residual: fit.kkt_residual,
                components: fit.components,
                seconds: fit.total_seconds,
                weights: fit.weights.clone(),
            });
        }
        Ok(rows)
    }
}

pub fn percent(metric: &str, data: &Data, fit: &Fit) -> f64 {
    100.0 * metrics::metric(metric, &data.classes, &fit.labels).unwrap_or(f64::NAN)
}

/// Runs everything on `workers` threads, each fit on one.
pub fn run(
    sets: &[Set],
    methods: &[Method],
    settings: Settings,
    workers: usize,
) -> Result<Vec<Row>, Box<dyn Error>> {
    let mut jobs = Vec::new();
    for set in sets {
        for &method in methods {
            let kernels: Vec<Option<usize>> = if method.is_single() {
                (0..set.kernels.len()).map(Some).collect()
            } else {
                vec![None]
            };
            for kernel in kernels {
                for variants in method.grid() {
                    let cost = method.cost(set.data.samples, set.data.clusters());
                    jobs.push(Job { set, method, kernel, variants, cost });
                }
            }
        }
    }
    // The order of the results is the order above; the order of the work is longest first, so
    // that no worker is left with a long one at the end.
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    order.sort_by_key(|&job| std::cmp::Reverse(jobs[job].cost));
    let progress = Progress::new(jobs.iter().map(|job| job.cost).sum());
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<scmk::Result<Vec<Row>>>>> =
        Mutex::new(jobs.iter().map(|_| None).collect());
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(&at) = order.get(next.fetch_add(1, Relaxed)) {
                    let job = &jobs[at];
                    let result = job.run(settings);
                    results.lock().expect("no worker panics while it holds this")[at] =
                        Some(result);
                    progress.advance(job);
                }
            });
        }
    });
    progress.bar.finish_and_clear();
    let mut rows = Vec::new();
    for result in results.into_inner()? {
        rows.extend(result.ok_or("a job was not run")??);
    }
    Ok(rows)
}

/// A bar on a terminal, a line now and then elsewhere. The time left assumes that what is open
/// takes as long, by its estimated cost, as what is done took.
struct Progress {
    bar: ProgressBar,
    started: Instant,
    said: Mutex<Instant>,
}

impl Progress {
    const PAUSE: Duration = Duration::from_secs(20);

    fn new(total: u64) -> Self {
        let bar = ProgressBar::new(total);
        let style = ProgressStyle::with_template(
            "{bar:40} {percent} %  {elapsed}, about {eta} left  {msg}",
        );
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.enable_steady_tick(Duration::from_millis(500));
        Self { bar, started: Instant::now(), said: Mutex::new(Instant::now()) }
    }

    fn advance(&self, job: &Job<'_>) {
        self.bar.set_message(format!("{} {}", job.set.name, job.method));
        self.bar.inc(job.cost);
        let mut said = self.said.lock().expect("nobody panics while holding this");
        if self.bar.is_hidden() && said.elapsed() > Self::PAUSE {
            *said = Instant::now();
            let share = self.bar.position() as f64 / self.bar.length().unwrap_or(1) as f64;
            let elapsed = self.started.elapsed().as_secs_f64();
            let left = elapsed / share * (1.0 - share);
            eprintln!("{:3.0} %, {elapsed:.0} s, about {left:.0} s left", 100.0 * share);
        }
    }
}
