//! Problems of 41 to 600 samples, where the methods for many samples begin: iterations instead of
//! decompositions, several blocks of columns, loops that end when numbers stop changing. An alpha
//! anywhere between far below and far above the kernel, a time limit, and a watchdog for what does
//! not keep it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use scmk::settings::Normalize;
use scmk::{Error, Features, Model, Options, Outcome};
use scmk_fuzz::input::{Input, Random};
use scmk_fuzz::{ensure, fits, set_all, show, watchdog};

fuzz_target!(|data: &[u8]| {
    let input = &mut Input::new(data);
    // Time grows with the cube.
    let samples = match input.below(16) {
        0..8 => 41 + input.below(40),
        8..14 => 81 + input.below(120),
        14 => 201 + input.below(200),
        _ => 401 + input.below(200),
    };
    let clusters = match input.below(16) {
        15 => samples - input.below(3),
        14 => 1 + usize::from(input.byte()) * (samples - 1) / 255,
        few => 1 + few,
    };
    let mut options = options(input);
    // alpha/max|K| is about 10 to this power.
    let decades = f64::from(input.byte()) / 8.0 - 16.0;
    let views: Vec<View> = (0..[1, 1, 2, 3][input.below(4)]).map(|_| View::new(input)).collect();
    // The option goes from 1e-12 to 1e12: the rest has to come from the data.
    let alpha = 10f64.powf(decades.clamp(-12.0, 12.0)).clamp(1e-12, 1e12);
    options.set_real("alpha", alpha).expect("within its range");
    let scale = match options.normalize {
        Normalize::None => alpha / 10f64.powf(decades),
        _ => 1.0,
    };
    let beta = (alpha * input.one_of(&[0.1, 0.0, 1e-6, 1e-3, 1.0, 30.0])).min(1e12);
    options.set_real("beta", beta).expect("within its range");
    show!("{samples} samples, {clusters} clusters, data times {scale:e}, {options:#?}");
    let limit = options.time_limit;
    let mut model = Model::new(samples, clusters).expect("sizes that are allowed");
    model.set(|now| Ok(*now = options)).expect("checked options");
    for view in &views {
        let added = watchdog::within(limit + 5.0, "adding kernels", || view.add(&mut model, scale));
        show!("{view:?}: {added:?}");
        match added {
            Ok(()) | Err(Error::Degenerate { .. } | Error::Stopped { .. }) => {}
            // Sums that round at random.
            Err(Error::NotPsd { .. }) if view.common > 0.0 => {}
            Err(error) => ensure!(false, "adding kernels failed with {error:?}"),
        }
    }
    if model.kernels().is_empty() {
        return;
    }
    for round in 0..2 {
        let Some(fit) = fits::fit(&mut model) else { return };
        show!("{:?} after {} iterations, gap {:?}", fit.outcome, fit.trace.len(), fit.kkt_residual);
        fits::check(&model, &fit);
        if round == 1 || fit.outcome == Outcome::TimeLimit || !input.rarely(3) {
            return;
        }
        // From there to another alpha.
        let alpha = (model.options().alpha * input.one_of(&[10.0, 0.1, 1e4])).clamp(1e-12, 1e12);
        let change = |options: &mut Options| {
            options.set_int("warm_start", 1)?;
            options.set_real("alpha", alpha)
        };
        model.set(change).expect("an alpha that is allowed");
    }
});

fn options(input: &mut Input<'_>) -> Options {
    let methods = ["kkm", "sc", "rkkm", "mkkm", "aasc", "rmkkm"];
    set_all(&[
        ("method", &if input.rarely(4) { input.one_of(&methods) } else { "scmk" }),
        ("learn_weights", &u8::from(!input.rarely(3))),
        ("weighting", &input.one_of(&["model", "agreement"])),
        ("adapt_beta", &u8::from(input.rarely(8))),
        ("neighbors", &input.one_of(&[-1, 0, 18, 5])),
        ("diffusion", &input.one_of(&[4.0, 0.0, 100.0])),
        ("subsamples", &if input.rarely(8) { 2 } else { 0 }),
        ("normalize", &input.one_of(&["unit", "max", "none"])),
        ("max_iterations", &input.one_of(&[2, 1, 5, 30])),
        ("tolerance", &input.one_of(&[1e-5, 0.0, 1e-3])),
        ("kkt_tolerance", &input.one_of(&[1e-9, 1e-13, 1e-6, 1e-2])),
        ("labels", &input.one_of(&["auto", "kmeans", "rotation", "qr"])),
        ("embedding", &input.one_of(&["model", "normalized"])),
        ("laplacian", &input.one_of(&["symmetric", "unnormalized"])),
        ("restarts", &(1 + input.below(3))),
        ("seed", &input.byte()),
        ("threads", &(1 + input.below(2))),
        ("time_limit", &input.one_of(&[0.2, 0.4, 1.0])),
    ])
}

/// Points, and what is made of them.
#[derive(Debug)]
struct View {
    seed: u64,
    features: usize,
    groups: usize,
    /// How far groups are apart, in units of their size.
    spread: f64,
    /// Points on a grid of so many steps, of which many coincide; 0 for none.
    steps: usize,
    /// What is added to all features, or to all entries of a kernel.
    common: f64,
    /// A list of kernels, or else a kernel matrix, linear or Gaussian.
    list: Option<usize>,
    linear: bool,
}

const LISTS: [&str; 10] = [
    "linear",
    "gaussian(t=0.1)",
    "paper",
    "polynomial(a=1,b=2)",
    "gaussian(t=1e-3); linear",
    "polynomial(a=0,b=4)",
    "gaussian(t=100)",
    "gaussian(t=0.01); gaussian(t=1); gaussian(t=10)",
    "standardize; gaussian(neighbors=7)",
    "unit_rows; cosine; gaussian(t=0.1,neighbors=3)",
];

impl View {
    fn new(input: &mut Input<'_>) -> Self {
        let kind = input.byte();
        Self {
            seed: u64::from(input.byte()),
            features: 1 + input.below(20),
            groups: 1 + input.below(10),
            spread: input.one_of(&[1.0, 0.0, 10.0, 1e3, 1e6]),
            steps: input.one_of(&[0, 0, 0, 2, 5, 50]),
            common: input.one_of(&[0.0, 0.0, 0.0, 1.0, 1e4, 1e8]),
            list: (kind % 4 < 2).then_some(usize::from(kind / 4) % LISTS.len()),
            linear: kind % 2 == 0,
        }
    }

    fn points(&self, samples: usize) -> Vec<f64> {
        let random = &mut Random::new(self.seed);
        let mut number = |size: f64| match self.steps {
            0 => size * random.unit(),
            steps => size * (random.below(steps) as f64),
        };
        let centres: Vec<f64> =
            (0..self.groups * self.features).map(|_| number(self.spread)).collect();
        let place = |e: usize| e / self.features % self.groups * self.features + e % self.features;
        (0..samples * self.features).map(|e| centres[place(e)] + number(1.0)).collect()
    }

    fn add(&self, model: &mut Model<'_>, scale: f64) -> scmk::Result<()> {
        let (samples, features) = (model.samples(), self.features);
        let mut points = self.points(samples);
        if let Some(list) = self.list {
            points.iter_mut().for_each(|v| *v = (*v + self.common) * scale.sqrt());
            let (sample_stride, feature_stride) = (features, 1);
            let view =
                Features { values: &points, samples, features, sample_stride, feature_stride };
            return model.add_features(view, LISTS[list]);
        }
        let rows: Vec<&[f64]> = points.chunks_exact(features).collect();
        let mut values = vec![0.0; samples * samples];
        for (i, j) in (0..samples).flat_map(|j| (j..samples).map(move |i| (i, j))) {
            let pairs = rows[i].iter().zip(rows[j]);
            let entry = match self.linear {
                true => pairs.map(|(a, b)| a * b).sum::<f64>(),
                false => (-pairs.map(|(a, b)| (a - b) * (a - b)).sum::<f64>()).exp(),
            };
            let entry = (entry + self.common) * scale;
            (values[i + j * samples], values[j + i * samples]) = (entry, entry);
        }
        model.add_kernel(&values, samples)
    }
}
