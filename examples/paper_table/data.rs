//! The paper's data sets, as `.npz` files with arrays X (samples × features) and y (classes).

use scmk::{Features, Model};
use std::fs::File;
use std::path::Path;

/// The names of the data sets, in the order of the paper.
pub const ALL: [&str; 8] = ["YALE", "JAFFE", "ORL", "AR", "BA", "TR11", "TR41", "TR45"];

/// A data set: samples × features by rows, and the true classes.
pub struct Data {
    pub x: Vec<f64>,
    pub samples: usize,
    pub features: usize,
    pub classes: Vec<i32>,
}

impl Data {
    pub fn load(folder: &Path, name: &str) -> Result<Self, Box<dyn std::error::Error>> {
        let mut archive =
            npyz::npz::NpzArchive::new(File::open(folder.join(format!("{name}.npz")))?)?;
        let x = archive.by_name("X")?.ok_or("no array X")?;
        let (samples, features) = (x.shape()[0] as usize, x.shape()[1] as usize);
        let bytes = matches!(x.dtype(), npyz::DType::Plain(ref t) if t.size_field() == 1);
        let mut x: Vec<f64> = if bytes {
            x.into_vec::<u8>()?.into_iter().map(f64::from).collect()
        } else {
            x.into_vec()?
        };
        let classes = archive.by_name("y")?.ok_or("no array y")?.into_vec::<i32>()?;
        if name == "AR" {
            for row in x.chunks_exact_mut(features) {
                let norm = row.iter().map(|v| v * v).sum::<f64>().sqrt();
                row.iter_mut().for_each(|v| *v /= norm);
            }
        }
        Ok(Self { x, samples, features, classes })
    }

    pub fn clusters(&self) -> usize {
        self.classes.iter().max().map_or(1, |&most| most as usize + 1)
    }

    pub fn view(&self) -> Features<'_> {
        Features {
            values: &self.x,
            samples: self.samples,
            features: self.features,
            sample_stride: self.features,
            feature_stride: 1,
        }
    }

    /// A model with `kernels` and the options "name=value".
    pub fn model(&self, kernels: &str, options: &[&str]) -> scmk::Result<Model<'static>> {
        let mut model = Model::new(self.samples, self.clusters())?;
        model.add_features(self.view(), kernels)?;
        set(&mut model, options)?;
        Ok(model)
    }
}

/// Sets options "name=value".
pub fn set(model: &mut Model<'_>, options: &[&str]) -> scmk::Result<()> {
    model.set(|checked| {
        options.iter().try_for_each(|option| {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            checked.set_text(name, value)
        })
    })
}
