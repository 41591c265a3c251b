//! The figures: sensitivity to α and β, the learned similarity, the weights.

use crate::data::set;
use crate::experiment::{ALPHAS, Method, Row, Set, Settings, percent};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use scmk::Control;
use std::error::Error;
use std::path::Path;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Done = Result<(), Box<dyn Error>>;

/// The β of the sensitivity figure: the paper's two, and their neighbours.
const BETAS: [f64; 5] = [1e-7, 1e-6, 1e-5, 1e-4, 1e-3];

/// Draws what the data sets allow; returns the names of the files.
pub fn draw(
    sets: &[Set],
    rows: &[Row],
    settings: Settings,
    out: &Path,
) -> Result<Vec<String>, Box<dyn Error>> {
    let mut written = Vec::new();
    for set in sets.iter().filter(|set| ["YALE", "JAFFE"].contains(&set.name.as_str())) {
        let name = format!("sensitivity-{}.svg", set.name.to_lowercase());
        sensitivity(set, settings, &out.join(&name))?;
        written.push(name);
    }
    if let Some(jaffe) = sets.iter().find(|set| set.name == "JAFFE") {
        similarity(jaffe, rows, &out.join("similarity-jaffe.svg"))?;
        written.push("similarity-jaffe.svg".to_owned());
    }
    weights(sets, rows, &out.join("weights.svg"))?;
    written.push("weights.svg".to_owned());
    Ok(written)
}

fn font(size: i32) -> TextStyle<'static> {
    ("sans-serif", size).into_text_style(&(1, 1)).color(&RGBColor(40, 40, 40))
}

fn centred(style: TextStyle<'_>) -> TextStyle<'_> {
    style.pos(Pos::new(HPos::Center, VPos::Center))
}

/// White to dark blue.
fn shade(share: f64) -> RGBColor {
    let mix = |light: f64, dark: f64| (light + (dark - light) * share.clamp(0.0, 1.0)) as u8;
    RGBColor(mix(247.0, 8.0), mix(251.0, 64.0), mix(255.0, 129.0))
}

/// A table of shaded cells with numbers: `values[row][column]`.
struct HeatMap<'h> {
    title: &'h str,
    rows: Vec<String>,
    columns: Vec<String>,
    row_title: &'h str,
    column_title: &'h str,
    values: Vec<Vec<f64>>,
    range: (f64, f64),
    decimals: usize,
}

impl HeatMap<'_> {
    const LEFT: i32 = 110;
    const TOP: i32 = 46;
    const BOTTOM: i32 = 56;

    fn draw(&self, area: &Area<'_>) -> Done {
        let (width, height) = area.dim_in_pixel();
        let (width, height) = (width as i32, height as i32);
        let cell = (
            (width - Self::LEFT - 16) / self.columns.len() as i32,
            (height - Self::TOP - Self::BOTTOM) / self.rows.len() as i32,
        );
        let middle = Self::LEFT + cell.0 * self.columns.len() as i32 / 2;
        area.draw(&Text::new(self.title, (middle, 22), centred(font(20))))?;
        for (i, row) in self.values.iter().enumerate() {
            let y = Self::TOP + i as i32 * cell.1;
            let right = font(14).pos(Pos::new(HPos::Right, VPos::Center));
            let label = Text::new(self.rows[i].clone(), (Self::LEFT - 8, y + cell.1 / 2), right);
            area.draw(&label)?;
            for (j, &value) in row.iter().enumerate() {
                let x = Self::LEFT + j as i32 * cell.0;
                let share = (value - self.range.0) / (self.range.1 - self.range.0);
                let corners = [(x, y), (x + cell.0 - 1, y + cell.1 - 1)];
                area.draw(&Rectangle::new(corners, shade(share).filled()))?;
                let ink = if share > 0.55 { WHITE } else { RGBColor(40, 40, 40) };
                let text = format!("{value:.*}", self.decimals);
                let style = centred(font(13).color(&ink));
                area.draw(&Text::new(text, (x + cell.0 / 2, y + cell.1 / 2), style))?;
            }
        }
        let below = Self::TOP + cell.1 * self.rows.len() as i32;
        for (j, name) in self.columns.iter().enumerate() {
            let x = Self::LEFT + j as i32 * cell.0 + cell.0 / 2;
            area.draw(&Text::new(name.clone(), (x, below + 14), centred(font(14))))?;
        }
        area.draw(&Text::new(self.column_title, (middle, below + 38), centred(font(15))))?;
        let corner = font(15).pos(Pos::new(HPos::Right, VPos::Center));
        area.draw(&Text::new(self.row_title, (Self::LEFT - 14, Self::TOP - 14), corner))?;
        Ok(())
    }
}

/// From the least value, rounded down to a multiple of ten, to the largest.
fn range(values: &[Vec<f64>]) -> (f64, f64) {
    let all = || values.iter().flatten().copied();
    let least = all().fold(f64::INFINITY, f64::min);
    ((least / 10.0).floor() * 10.0, all().fold(least + 1.0, f64::max))
}

fn sensitivity(data: &Set, settings: Settings, path: &Path) -> Done {
    let mut model = data.model(None)?;
    set(&mut model, &[&format!("restarts={}", settings.repetitions)])?;
    let titles = [("accuracy", "Accuracy"), ("nmi", "NMI"), ("purity", "Purity")];
    let mut values = [const { Vec::new() }; 3];
    for beta in BETAS {
        let mut row = [const { Vec::new() }; 3];
        for alpha in ALPHAS {
            model.set(|options| options.set_real("alpha", alpha))?;
            model.set(|options| options.set_real("beta", beta))?;
            let fit = model.fit(&Control::default(), None)?;
            for (row, (metric, _)) in row.iter_mut().zip(titles) {
                row.push(percent(metric, &data.data, fit));
            }
        }
        values.iter_mut().zip(row).for_each(|(values, row)| values.push(row));
    }
    let root = SVGBackend::new(path, (1560, 380)).into_drawing_area();
    root.fill(&WHITE)?;
    for ((panel, values), (_, title)) in root.split_evenly((1, 3)).iter().zip(values).zip(titles) {
        let title = format!("{}: {title} of SCMK, percent", data.name);
        let map = HeatMap {
            title: &title,
            rows: BETAS.map(|beta| format!("{beta:e}")).to_vec(),
            columns: ALPHAS.map(scmk::options::number).to_vec(),
            row_title: "β",
            column_title: "α",
            range: range(&values),
            values,
            decimals: 0,
        };
        map.draw(panel)?;
    }
    root.present()?;
    Ok(())
}

/// The best fit of a data set that reads labels as the paper does.
fn best<'r>(rows: &'r [Row], dataset: &str) -> Option<&'r Row> {
    let own = rows.iter().filter(|row| {
        row.dataset == dataset && row.method == Method::Scmk && row.variant == "embedding=model"
    });
    own.reduce(|best, row| if row.accuracy > best.accuracy { row } else { best })
}

fn similarity(data: &Set, rows: &[Row], path: &Path) -> Done {
    let Some(best) = best(rows, &data.name) else { return Ok(()) };
    let (alpha, beta) = (best.alpha.unwrap_or(1.0), best.beta.unwrap_or(0.0));
    let mut model = data.model(None)?;
    model.set(|options| options.set_real("alpha", alpha))?;
    model.set(|options| options.set_real("beta", beta))?;
    let fit = model.fit(&Control::default(), None)?;
    let graph = fit.similarity.as_ref().ok_or("SCMK learns a similarity")?;
    let n = data.data.samples;
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by_key(|&i| data.data.classes[i]);
    let mut place = vec![0; n];
    order.iter().enumerate().for_each(|(at, &i)| place[i] = at as i32);

    let cell = 3;
    let (left, top) = (70, 60);
    let size = (left + cell * n as i32 + 30, top + cell * n as i32 + 70);
    let root = SVGBackend::new(path, (size.0 as u32, size.1 as u32)).into_drawing_area();
    root.fill(&WHITE)?;
    let middle = left + cell * n as i32 / 2;
    let title = format!("{}: learned similarity, samples ordered by class", data.name);
    root.draw(&Text::new(title, (middle, 26), centred(font(20))))?;
    // The diagonal says nothing of the neighbours and would drown them: shades are of each
    // column's share outside of it.
    for (j, column) in graph.columns().iter().enumerate() {
        let most = column.iter().filter(|&(i, _)| i != j).map(|(_, v)| v).fold(0.0, f64::max);
        for (i, value) in column.iter().filter(|&(i, _)| i != j) {
            let share = value / most;
            if share > 0.02 {
                let (x, y) = (left + cell * place[j], top + cell * place[i]);
                let corners = [(x, y), (x + cell, y + cell)];
                root.draw(&Rectangle::new(corners, shade(0.15 + 0.85 * share).filled()))?;
            }
        }
    }
    let edge = RGBColor(170, 170, 170);
    let far = cell * n as i32;
    for at in 0..=n {
        let class = |at: usize| order.get(at).map(|&i| data.data.classes[i]);
        if at == 0 || class(at) != class(at - 1) {
            let p = cell * at as i32;
            root.draw(&PathElement::new([(left, top + p), (left + far, top + p)], edge))?;
            root.draw(&PathElement::new([(left + p, top), (left + p, top + far)], edge))?;
        }
    }
    let below = format!(
        "α = {alpha}, β = {beta:e}; accuracy {:.1} %, {} nonzero entries a column",
        percent("accuracy", &data.data, fit),
        graph.nnz() / n
    );
    root.draw(&Text::new(below, (middle, top + far + 30), centred(font(15))))?;
    root.present()?;
    Ok(())
}

fn weights(sets: &[Set], rows: &[Row], path: &Path) -> Done {
    let chosen: Vec<&Row> = sets.iter().filter_map(|set| best(rows, &set.name)).collect();
    let Some(first) = sets.first().filter(|_| !chosen.is_empty()) else { return Ok(()) };
    let height = 110 + 44 * chosen.len() as u32;
    let root = SVGBackend::new(path, (1500, height)).into_drawing_area();
    root.fill(&WHITE)?;
    let map = HeatMap {
        title: "Kernel weights learned by SCMK: √w, which sum to 1",
        rows: chosen.iter().map(|row| row.dataset.clone()).collect(),
        columns: first
            .kernels
            .iter()
            .map(|(name, _)| name.replace("gaussian", "gauss").replace("polynomial", "poly"))
            .collect(),
        row_title: "",
        column_title: "kernel, at each data set's best α and β",
        values: chosen.iter().map(|row| row.weights.iter().map(|w| w.sqrt()).collect()).collect(),
        range: (0.0, 0.7),
        decimals: 3,
    };
    map.draw(&root)?;
    root.present()?;
    Ok(())
}
