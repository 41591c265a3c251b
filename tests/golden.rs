//! The golden problems of `tests/golden`, which every language solves and compares:
//! `SCMK_UPDATE_GOLDEN=1 cargo test --test golden` writes them anew. `tests/golden/README.md` says
//! what is in the files.

use scmk::method::METHODS;
use scmk::{Control, Error, Features, Fit, Model, metrics};
use std::fs;
use std::path::{Path, PathBuf};

type Table = Vec<Vec<f64>>;

struct Problem {
    name: &'static str,
    clusters: usize,
    options: Vec<(&'static str, &'static str)>,
    input: Input,
}

enum Input {
    Kernels(Vec<Table>),
    /// Views with their kernel list, samples by rows.
    Features(Vec<Table>, &'static str),
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// Clouds around `clusters` places, cloud i % clusters for sample i.
fn clouds(samples: usize, features: usize, clusters: usize, spread: f64, seed: u64) -> Table {
    let mut state = seed;
    let mut random = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as f64 / (1u64 << 31) as f64 - 0.5
    };
    let places: Table =
        (0..clusters).map(|_| (0..features).map(|_| 6.0 * random()).collect()).collect();
    let mut near = |place: &[f64]| place.iter().map(|v| v + spread * random()).collect();
    (0..samples).map(|i| near(&places[i % clusters])).collect()
}

/// exp(−|x − y|²/width), rounded to 12 digits: short files, and still symmetric.
fn gaussian(points: &Table, width: f64) -> Table {
    let value = |a: &[f64], b: &[f64]| {
        let distance2: f64 = a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum();
        ((-distance2 / width).exp() * 1e12).round() / 1e12
    };
    points.iter().map(|a| points.iter().map(|b| value(a, b)).collect()).collect()
}

fn problems() -> Vec<Problem> {
    let view = |seed| clouds(24, 3, 3, 2.5, seed);
    // The same clusters in other words, and sixty samples each at a place of its own.
    let large = |seed| clouds(60, 3, 3, 2.5, seed);
    let near = |seed| {
        let turn = |row: &Vec<f64>| vec![row[0] - row[1] + 0.1 * row[0] * row[0], row[1] + row[2]];
        large(seed).iter().map(turn).collect()
    };
    let noise = |seed| clouds(60, 4, 60, 0.0, seed);
    let separate = |seed| clouds(60, 3, 4, 0.8, seed);
    let kernels = || vec![gaussian(&view(1), 10.0), gaussian(&view(2), 30.0)];
    let solved = |name, clusters, options, input| Problem { name, clusters, options, input };
    let mut all = vec![
        solved(
            "one_kernel",
            3,
            vec![("preset", "joint"), ("alpha", "0.1"), ("beta", "0.001")],
            Input::Kernels(vec![kernels().remove(0)]),
        ),
        solved("several_kernels", 3, vec![("preset", "paper")], Input::Kernels(kernels())),
        solved(
            "features",
            3,
            vec![("preset", "joint"), ("alpha", "0.5"), ("embedding", "normalized")],
            Input::Features(vec![view(3), view(4)], "gaussian(t=0.1); linear; polynomial(a=1,b=2)"),
        ),
        solved(
            "prepared",
            3,
            vec![("preset", "joint"), ("alpha", "0.5"), ("embedding", "normalized")],
            Input::Features(
                vec![view(5), view(6)],
                "standardize; gaussian(t=2,neighbors=5); cosine; linear",
            ),
        ),
        // Plain defaults: two views that agree and one of noise.
        solved("auto", 3, Vec::new(), Input::Features(vec![large(7), near(7), noise(9)], "auto")),
        // The number of clusters is chosen.
        solved("chosen", 0, Vec::new(), Input::Features(vec![separate(8)], "auto")),
        // Twelve samples at four places. (Any larger number of clusters would leave it to the last
        // digit which of the equal samples are told apart.)
        solved(
            "degenerate",
            4,
            vec![("preset", "joint"), ("alpha", "0.1")],
            Input::Kernels(vec![gaussian(
                &(0..12).map(|i| clouds(4, 2, 4, 1.0, 5)[i % 4].clone()).collect(),
                8.0,
            )]),
        ),
    ];
    for name in METHODS[1..].iter().map(|method| method.name) {
        all.push(solved(
            name,
            3,
            vec![("method", name), ("restarts", "5"), ("seed", "7")],
            Input::Kernels(kernels()),
        ));
    }
    all
}

impl Problem {
    fn solve(&self) -> Fit {
        let samples = match &self.input {
            Input::Kernels(kernels) => kernels[0].len(),
            Input::Features(views, _) => views[0].len(),
        };
        let mut model = Model::new(samples, self.clusters).unwrap();
        match &self.input {
            Input::Kernels(kernels) => {
                kernels.iter().for_each(|k| model.add_kernel(&k.concat(), samples).unwrap());
            }
            Input::Features(views, list) => {
                for view in views {
                    model.add_features(rows(&view.concat(), samples), list).unwrap();
                }
            }
        }
        let options = &self.options;
        model.set(|o| options.iter().try_for_each(|(n, v)| o.set_text(n, v))).unwrap();
        model.fit(&Control::default(), None).unwrap().clone()
    }

    /// Every file of the problem: name and text.
    fn files(&self, fit: &Fit) -> Vec<(String, String)> {
        let mut files = Vec::new();
        let mut options = format!("clusters,{}\n", self.clusters);
        match &self.input {
            Input::Kernels(kernels) => {
                for (k, kernel) in kernels.iter().enumerate() {
                    files.push((format!("kernel{}.csv", k + 1), text(kernel)));
                }
            }
            Input::Features(views, list) => {
                for (k, view) in views.iter().enumerate() {
                    files.push((format!("features{}.csv", k + 1), text(view)));
                }
                options += &format!("kernels,\"{list}\"\n");
            }
        }
        options.extend(self.options.iter().map(|(name, value)| format!("{name},{value}\n")));
        files.push(("problem.csv".to_owned(), options));
        let labels: Table = fit.labels.iter().map(|&label| vec![f64::from(label)]).collect();
        files.push(("labels.csv".to_owned(), text(&labels)));
        files.push((
            "weights.csv".to_owned(),
            text(&fit.weights.iter().map(|&w| vec![w]).collect()),
        ));
        files.push(("objective.csv".to_owned(), text(&vec![vec![fit.objective]])));
        if let Some(similarity) = &fit.similarity {
            let n = similarity.targets();
            let row = |i: usize| similarity.columns().iter().map(|c| c.entry(i)).collect();
            files.push(("similarity.csv".to_owned(), text(&(0..n).map(row).collect())));
        }
        files
    }
}

fn rows(x: &[f64], samples: usize) -> Features<'_> {
    let features = x.len() / samples;
    Features { values: x, samples, features, sample_stride: features, feature_stride: 1 }
}

/// Shortest digits that read back as the same number.
fn text(table: &Table) -> String {
    let line = |row: &Vec<f64>| row.iter().map(f64::to_string).collect::<Vec<_>>().join(",") + "\n";
    table.iter().map(line).collect()
}

fn numbers(path: &Path) -> Table {
    let text =
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().map(|line| line.split(',').map(|v| v.parse().unwrap()).collect()).collect()
}

fn update() -> bool {
    std::env::var_os("SCMK_UPDATE_GOLDEN").is_some()
}

#[test]
fn golden_problems_have_their_golden_answers() {
    for problem in problems() {
        let place = folder().join(problem.name);
        let fit = problem.solve();
        let files = problem.files(&fit);
        if update() {
            fs::create_dir_all(&place).unwrap();
            files.iter().for_each(|(name, text)| fs::write(place.join(name), text).unwrap());
        }
        for (name, ours) in files {
            let path = place.join(&name);
            if ["labels.csv", "problem.csv"].contains(&name.as_str()) {
                assert_eq!(fs::read_to_string(&path).unwrap(), ours, "{}/{name}", problem.name);
                continue;
            }
            let golden = numbers(&path);
            let ours: Table =
                ours.lines().map(|l| l.split(',').map(|v| v.parse().unwrap()).collect()).collect();
            assert_eq!(golden.len(), ours.len(), "{}/{name}", problem.name);
            for (golden, ours) in golden.concat().iter().zip(ours.concat()) {
                let close = (golden - ours).abs() <= 1e-10 * golden.abs().max(1.0);
                assert!(close, "{}/{name}: {golden} {ours}", problem.name);
            }
        }
    }
}

/// One bad input: what is done to a model of the problem one_kernel, or to one of no kernel.
struct Bad {
    name: &'static str,
    status: &'static str,
    kind: &'static str,
    argument: &'static str,
    value: &'static str,
}

const BAD: &[Bad] = &[
    bad("not_a_number", "SCMK_E_NOT_FINITE", "entry", "7 4", "NaN"),
    bad("infinite", "SCMK_E_NOT_FINITE", "entry", "0 23", "Inf"),
    bad("asymmetric", "SCMK_E_ASYMMETRIC", "entry", "5 2", "0.75"),
    bad("too_many_clusters", "SCMK_E_DIMENSION", "clusters", "", "25"),
    bad("unknown_option", "SCMK_E_UNKNOWN_OPTION", "option", "aplha", "1"),
    bad("negative_alpha", "SCMK_E_INVALID_ARGUMENT", "option", "alpha", "-1"),
    bad("gamma_of_one", "SCMK_E_INVALID_ARGUMENT", "option", "gamma", "1"),
    bad("fraction_of_a_restart", "SCMK_E_INVALID_ARGUMENT", "option", "restarts", "2.5"),
    bad("unknown_method", "SCMK_E_INVALID_ARGUMENT", "option", "method", "kmeans"),
    bad("text_for_a_number", "SCMK_E_INVALID_ARGUMENT", "option", "alpha", "large"),
    bad("unknown_kernel", "SCMK_E_UNKNOWN_OPTION", "kernels", "", "gausian(t=1)"),
    bad("bad_kernel_parameter", "SCMK_E_INVALID_ARGUMENT", "kernels", "", "gaussian(t=-1)"),
    bad("feature_not_a_number", "SCMK_E_NOT_FINITE", "feature", "3 1", "NaN"),
    bad("unknown_metric", "SCMK_E_UNKNOWN_OPTION", "metric", "", "acuracy"),
    bad("clusters_as_an_option", "SCMK_E_UNKNOWN_OPTION", "option", "k", "3"),
    bad("option_of_another_library", "SCMK_E_UNKNOWN_OPTION", "option", "nstart", "10"),
    bad("unknown_weighting", "SCMK_E_INVALID_ARGUMENT", "option", "weighting", "paper"),
    bad("step_beside_auto", "SCMK_E_INVALID_ARGUMENT", "kernels", "", "auto; tfidf; linear"),
    bad("prepared_too_late", "SCMK_E_INVALID_ARGUMENT", "kernels", "", "linear; unit_rows"),
    bad("negative_counts", "SCMK_E_INVALID_ARGUMENT", "kernels", "", "tfidf; linear"),
    bad("kernel_of_another_library", "SCMK_E_UNKNOWN_OPTION", "kernels", "", "rbf"),
];

const fn bad(
    name: &'static str,
    status: &'static str,
    kind: &'static str,
    argument: &'static str,
    value: &'static str,
) -> Bad {
    Bad { name, status, kind, argument, value }
}

impl Bad {
    /// The error, with messages that count from `base`.
    fn provoke(&self, base: i64) -> Error {
        let kernel = numbers(&folder().join("one_kernel/kernel1.csv"));
        let view = numbers(&folder().join("features/features1.csv"));
        let samples = kernel.len();
        let place = || {
            let mut at = self.argument.split(' ').map(|at| at.parse::<usize>().unwrap());
            (at.next().unwrap(), at.next().unwrap(), self.value.parse::<f64>().unwrap())
        };
        let mut model = Model::new(samples, 3).unwrap();
        model.set(|options| options.set_int("index_base", base)).unwrap();
        match self.kind {
            "entry" => {
                let (mut kernel, (row, col, value)) = (kernel, place());
                kernel[row][col] = value;
                // Column-major: the table is symmetric but for the entry.
                let columns: Vec<f64> =
                    (0..samples).flat_map(|j| kernel.iter().map(move |row| row[j])).collect();
                model.add_kernel(&columns, samples).unwrap_err()
            }
            "feature" => {
                let (mut view, (row, col, value)) = (view, place());
                view[row][col] = value;
                model.add_features(rows(&view.concat(), samples), "linear").unwrap_err()
            }
            "clusters" => Model::new(samples, self.value.parse().unwrap()).unwrap_err(),
            "option" => model.set(|o| o.set_text(self.argument, self.value)).unwrap_err(),
            "kernels" => model.add_features(rows(&view.concat(), samples), self.value).unwrap_err(),
            "metric" => metrics::metric(self.value, &[0, 1], &[0, 1]).unwrap_err(),
            other => panic!("unknown kind {other}"),
        }
    }
}

#[test]
fn bad_inputs_have_their_golden_messages() {
    let mut lines = "name,status,kind,argument,value,message,message_from_1\n".to_owned();
    for bad in BAD {
        let Bad { name, status, kind, argument, value } = bad;
        let message = |base| bad.provoke(base).to_string().replace('"', "\"\"");
        let (from_0, from_1) = (message(0), message(1));
        lines += &format!("{name},{status},{kind},{argument},{value},\"{from_0}\",\"{from_1}\"\n");
    }
    let path = folder().join("bad_inputs.csv");
    if update() {
        fs::write(&path, &lines).unwrap();
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), lines);
}
