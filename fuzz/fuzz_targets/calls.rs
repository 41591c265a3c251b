//! Sequences of calls on a few models through the C functions, with right and wrong arguments.
//!
//! A shadow of each model knows what every call has to answer. Outputs are filled with a sentinel
//! that a failed call must leave, and are exactly as long as the library is told, so that the
//! address sanitizer sees the rest.
#![no_main]

use libfuzzer_sys::fuzz_target;
use scmk::ffi::*;
use scmk::infos;
use scmk::metrics;
use scmk::options::{Kind, TABLE};
use scmk_fuzz::input::{Input, square};
use scmk_fuzz::results::{
    check_labels, check_orthonormal, check_similarity, check_trace, check_weights,
};
use scmk_fuzz::{ensure, is_one_line, show};
use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use std::rc::Rc;

const MOST_MODELS: usize = 4;
const MOST_SAMPLES: usize = 20;
const MOST_KERNELS: usize = 30;
const MOST_STEPS: usize = 50;
/// Nearly all of the time goes into fits.
const MOST_FITS: usize = 4;
/// Fits inside of a progress function of a fit.
const DEEPEST: usize = 2;
/// The most elements that an input array is given.
const LARGEST: usize = 4096;

type Handle = *mut scmk_model;

/// What a model must be like.
struct Shadow {
    handle: Handle,
    samples: usize,
    clusters: usize,
    kernels: usize,
    views: Vec<View>,
    /// The name that the next view is to have.
    next_view: Option<String>,
    /// Whether a cancel waits for the next fit, where that is known.
    waiting: Option<bool>,
    /// The result that can be read, if one can.
    fitted: Option<Rc<Fitted>>,
    /// Whether it is being fitted.
    busy: bool,
    /// Borrowed memory, given back when the library has let go of it.
    borrowed: Vec<Vec<f64>>,
    /// What its progress function does, one byte after the other.
    script: Vec<u8>,
}

/// What one call added.
struct View {
    name: Option<String>,
    /// Number of its first kernel.
    first: usize,
    /// What its kernels were built by; nothing for one that was added as such.
    specs: Option<Vec<String>>,
}

impl Shadow {
    fn view_name(&self, view: usize, base: usize) -> Option<String> {
        let View { name, first, specs } = self.views.get(view)?;
        Some(match (name, specs) {
            (Some(name), _) => name.clone(),
            (None, None) => format!("kernel {}", first + base),
            (None, Some(_)) => format!("view {}", view + base),
        })
    }

    /// The name of a kernel and the number of its view.
    fn kernel_name(&self, kernel: usize, base: usize) -> Option<(String, usize)> {
        if kernel >= self.kernels {
            return None;
        }
        let view = self.views.iter().rposition(|view| view.first <= kernel)?;
        let View { name, first, specs } = &self.views[view];
        let of_view = self.view_name(view, base)?;
        let name = match specs.as_ref().map(|specs| &specs[kernel - first]) {
            None => of_view,
            Some(spec) if self.views.len() == 1 && name.is_none() => spec.clone(),
            Some(spec) => format!("{of_view}: {spec}"),
        };
        Some((name, view))
    }

    fn add(&mut self, specs: Option<Vec<String>>) {
        let (name, first) = (self.next_view.take(), self.kernels);
        self.kernels += specs.as_ref().map_or(1, Vec::len);
        self.views.push(View { name, first, specs });
        self.fitted = None;
    }
}

/// What a fit has left.
#[derive(Clone, PartialEq)]
struct Fitted {
    method: String,
    clusters: usize,
    /// Whether it was not stopped.
    complete: bool,
    iterations: i64,
    labels: Vec<i32>,
    objective: u64,
}

/// What was seen of a call that is running and can be stopped.
struct Watch {
    handle: Handle,
    fits: bool,
    threads: usize,
    /// Whether an earlier cancel may stop it, but need not.
    uncertain: bool,
    iteration: i64,
    objective: f64,
    /// The iteration after which the progress function asked to stop.
    stopped: Option<i64>,
}

#[derive(Default)]
struct World {
    models: Vec<Shadow>,
    destroyed: Vec<Handle>,
    running: Vec<Watch>,
    fits_made: usize,
}

thread_local! {
    static WORLD: RefCell<World> = RefCell::default();
}

/// Must not be around a call that fits: the progress function needs the world too.
fn world<R>(work: impl FnOnce(&mut World) -> R) -> R {
    WORLD.with(|world| work(&mut world.borrow_mut()))
}

fuzz_target!(|data: &[u8]| {
    let mut input = Input::new(data);
    for _ in 0..MOST_STEPS {
        if input.is_empty() {
            break;
        }
        step(&mut input);
    }
    world(|world| {
        for shadow in world.models.drain(..) {
            ensure!(scmk_destroy(shadow.handle) == SCMK_OK, "a model is not destroyed");
            world.destroyed.push(shadow.handle);
        }
        for handle in world.destroyed.drain(..) {
            ensure!(scmk_destroy(handle) == SCMK_E_INVALID_HANDLE, "destroyed twice");
        }
        ensure!(world.running.is_empty(), "a call is still running");
        world.fits_made = 0;
    });
});

fn step(input: &mut Input<'_>) {
    let choice = input.byte();
    match choice {
        // The calls that came later: so earlier inputs mean what they meant.
        216..220 => return suggest_clusters(input),
        220..224 => return info_text(input),
        224..228 => return set_clusters(input),
        228..233 => return name_view(input),
        233..237 => return view_name(input),
        237..241 => return kernel_name(input),
        241..245 => return view_weights(input),
        245..250 => return model_metric(input),
        250..253 => return certified_weights(input),
        253..=255 => return certified_embedding(input),
        _ => {}
    }
    match choice % 32 {
        0 | 1 => create(input),
        2 => destroy(input),
        3..=6 => set_option(input),
        7 => get_option(input),
        8..=10 => add_kernel(input),
        11 | 12 => add_features(input),
        13 => clear_kernels(input),
        14 | 15 => set_progress(input),
        16..=20 => fit(input),
        21 => cancel(input),
        22 => labels(input),
        23 => weights(input),
        24 => embedding(input),
        25 => similarity(input),
        26 => similarity_csc(input),
        27 => trace(input),
        28 => info(input),
        29 => error_message(input),
        30 => metric(input),
        _ => describe(input),
    }
}

/// A handle for a call, and what it has to be answered.
struct Target {
    handle: Handle,
    /// Which model it is, if it is one.
    model: Option<usize>,
    /// What the call has to answer whatever else it is given.
    refusal: Option<scmk_status>,
    samples: usize,
    clusters: usize,
    kernels: usize,
    views: usize,
    fitted: Option<Rc<Fitted>>,
}

fn target(input: &mut Input<'_>) -> Target {
    world(|world| {
        let choice = input.byte();
        let count = world.models.len();
        let some = world.models.get(usize::from(choice / 16) % count.max(1)).map(|m| m.handle);
        let handle = match choice % 16 {
            0..12 => some.unwrap_or(ptr::null_mut()),
            12 => world.destroyed.last().copied().unwrap_or(ptr::without_provenance_mut(8)),
            13 => ptr::null_mut(),
            14 => ptr::without_provenance_mut(input.word() as usize),
            _ => some.map_or(ptr::without_provenance_mut(1), |handle| {
                handle.map_addr(|addr| addr ^ (1 << input.below(64)))
            }),
        };
        let model = world.models.iter().position(|shadow| shadow.handle == handle);
        let shadow = model.map(|index| &world.models[index]);
        let refusal = match shadow {
            _ if handle.is_null() => Some(SCMK_E_NULL_ARGUMENT),
            None => Some(SCMK_E_INVALID_HANDLE),
            Some(shadow) if shadow.busy => Some(SCMK_E_BUSY),
            Some(_) => None,
        };
        Target {
            handle,
            model,
            refusal,
            samples: shadow.map_or(3, |shadow| shadow.samples),
            clusters: shadow.map_or(2, Shadow::clusters_known),
            kernels: shadow.map_or(1, |shadow| shadow.kernels),
            views: shadow.map_or(1, |shadow| shadow.views.len()),
            fitted: shadow.and_then(|shadow| shadow.fitted.clone()),
        }
    })
}

impl Shadow {
    /// The number of clusters: as asked for, or as the last fit chose.
    fn clusters_known(&self) -> usize {
        match (self.clusters, &self.fitted) {
            (0, Some(fitted)) => fitted.clusters,
            (clusters, _) => clusters,
        }
    }
}

impl Target {
    /// Whether the call succeeded; any answer but one of `allowed` ends the run.
    fn judge(&self, call: &str, status: scmk_status, allowed: &[scmk_status]) -> bool {
        let legal = match self.refusal {
            Some(refusal) => status == refusal,
            None => allowed.contains(&status),
        };
        show!("{call} of {:?} at {:p}: {}", self.model, self.handle, named(status));
        ensure!(legal, "{call} answered {}, not {:?} or {allowed:?}", named(status), self.refusal);
        if status != SCMK_OK {
            let owner = if self.refusal.is_none() { self.handle } else { ptr::null_mut() };
            check_message(call, owner);
        }
        status == SCMK_OK
    }

    /// The method of the result.
    fn method(&self) -> Option<&str> {
        self.fitted.as_ref().map(|fitted| fitted.method.as_str())
    }

    fn change(&self, work: impl FnOnce(&mut Shadow)) {
        if let Some(index) = self.model {
            world(|world| work(&mut world.models[index]));
        }
    }

    /// Whether the library agrees with the shadow.
    fn verify(&self) {
        if self.refusal.is_some() {
            return;
        }
        let Some(index) = self.model else { return };
        let (counts, fitted) = world(|world| {
            let shadow = &world.models[index];
            let Shadow { samples, kernels, views, .. } = shadow;
            let counts = [
                (c"samples", *samples),
                (c"clusters", shadow.clusters_known()),
                (c"kernels", *kernels),
                (c"views", views.len()),
            ];
            (counts, shadow.fitted.is_some())
        });
        for (name, count) in counts {
            let found = whole_info(self.handle, name);
            ensure!(found == Ok(count as i64), "{found:?} {name:?}, and not {count}");
        }
        let outcome = whole_info(self.handle, c"outcome");
        match outcome {
            Ok(outcome) => ensure!(fitted && (0..4).contains(&outcome), "outcome {outcome}"),
            Err(status) => ensure!(!fitted && status == SCMK_E_STATE, "no outcome: {status}"),
        }
    }
}

fn named(status: scmk_status) -> &'static str {
    // SAFETY: the library promises a static text for any number.
    unsafe { CStr::from_ptr(scmk_status_name(status)) }.to_str().unwrap_or("?")
}

fn whole_info(handle: Handle, name: &CStr) -> Result<i64, scmk_status> {
    let mut value = 0;
    // SAFETY: text with a NUL, and room for one number.
    match unsafe { scmk_info_int(handle, name.as_ptr(), &mut value) } {
        SCMK_OK => Ok(value),
        status => Err(status),
    }
}

/// The text of the last failed call on a model, or for NULL in this thread.
fn message(call: &str, owner: Handle) -> String {
    let mut buffer = [0u8; 256];
    let mut needed = 0;
    // SAFETY: as many bytes as said, and room for one number.
    let status =
        unsafe { scmk_error_message(owner, buffer.as_mut_ptr().cast(), buffer.len(), &mut needed) };
    ensure!(status == SCMK_OK && needed > 1, "no message about {call}");
    let text = CStr::from_bytes_until_nul(&buffer).ok().and_then(|text| text.to_str().ok());
    ensure!(text.is_some(), "the message about {call} is no text: {buffer:?}");
    text.unwrap_or_default().to_owned()
}

/// After a call that failed: its text is with the thread, and with the model if it got that far.
fn check_message(call: &str, owner: Handle) {
    let text = message(call, ptr::null_mut());
    ensure!(is_one_line(&text), "the message about {call} is not one line: {text:?}");
    // SAFETY: the library promises text that stays until a call fails.
    let last = unsafe { CStr::from_ptr(scmk_last_error()) };
    let same = last.to_str().is_ok_and(|last| last.starts_with(&text));
    ensure!(same, "the last error is {last:?}, not {text:?}");
    if !owner.is_null() {
        let other = message(call, owner);
        ensure!(other == text, "{call}: {text:?} in the thread, {other:?} in the model");
    }
}

/// Numbers that a result does not have by chance.
trait Sentinel: Copy + PartialEq {
    const SENTINEL: Self;
}

impl Sentinel for u8 {
    const SENTINEL: Self = 0xa5;
}

impl Sentinel for i32 {
    const SENTINEL: Self = 0x5a5a_a5a5;
}

impl Sentinel for i64 {
    const SENTINEL: Self = 0x5a5a_a5a5_5a5a_a5a5;
}

impl Sentinel for usize {
    const SENTINEL: Self = 0x5a5a_a5a5_5a5a_a5a5;
}

impl Sentinel for f64 {
    const SENTINEL: Self = -1.234_567e-89;
}

impl<T> Sentinel for *const T {
    const SENTINEL: Self = ptr::without_provenance(0x5a5a_a5a5);
}

impl<T> Sentinel for *mut T {
    const SENTINEL: Self = ptr::without_provenance_mut(0x5a5a_a5a5);
}

#[derive(Clone, Copy, PartialEq)]
enum Place {
    Given,
    Null,
    Misaligned,
}

/// An array for the library to fill, or a wrong pointer instead of it.
struct Out<T> {
    values: Vec<T>,
    place: Place,
}

impl<T: Sentinel> Out<T> {
    fn new(input: &mut Input<'_>, length: usize) -> Self {
        let place = match input.below(16) {
            14 => Place::Null,
            15 if align_of::<T>() > 1 => Place::Misaligned,
            _ => Place::Given,
        };
        // One more, so that the misaligned array ends inside.
        let length = length + usize::from(place == Place::Misaligned);
        Self { values: vec![T::SENTINEL; length], place }
    }

    fn pointer(&mut self) -> *mut T {
        match self.place {
            Place::Given => self.values.as_mut_ptr(),
            Place::Null => ptr::null_mut(),
            Place::Misaligned => self.values.as_mut_ptr().wrapping_byte_add(1),
        }
    }

    /// What a call has to answer that needs so many elements of `length`.
    fn expected(&self, length: usize, needed: usize) -> scmk_status {
        match self.place {
            Place::Null => SCMK_E_NULL_ARGUMENT,
            Place::Misaligned => SCMK_E_INVALID_ARGUMENT,
            Place::Given if length < needed => SCMK_E_DIMENSION,
            Place::Given => SCMK_OK,
        }
    }

    /// The elements that were written, none unless the call succeeded.
    fn written(&self, success: bool, count: usize) -> &[T] {
        let count = if success { count.min(self.values.len()) } else { 0 };
        let untouched = self.values[count..].iter().all(|value| *value == T::SENTINEL);
        ensure!(untouched, "written where nothing was to be written");
        &self.values[..count]
    }

    fn one(&self, success: bool) -> Option<T> {
        let written = success && self.place == Place::Given;
        self.written(written, 1).first().copied()
    }
}

/// An array for the library to read, exactly as long as it says.
struct Given<T> {
    values: Vec<T>,
    place: Place,
}

impl<T: Copy> Given<T> {
    fn new(input: &mut Input<'_>, values: Vec<T>) -> Self {
        let place = match input.below(24) {
            22 => Place::Null,
            23 => Place::Misaligned,
            _ => Place::Given,
        };
        Self { values, place }
    }

    fn pointer(&self) -> *const T {
        match self.place {
            Place::Given => self.values.as_ptr(),
            Place::Null => ptr::null(),
            Place::Misaligned => self.values.as_ptr().wrapping_byte_add(1),
        }
    }
}

/// A name of a table, nearly one, any bytes, or NULL.
struct Name(Option<Vec<u8>>);

impl Name {
    fn new(input: &mut Input<'_>, known: &[&str]) -> Self {
        let mut name = Self::terminated(input.one_of(known));
        match input.below(16) {
            13 => name.truncate(name.len() / 2),
            14 => return Self(Some(input.text())),
            15 => return Self(None),
            _ => return Self(Some(name)),
        }
        name.push(0);
        Self(Some(name))
    }

    fn terminated(text: &str) -> Vec<u8> {
        text.bytes().chain([0]).collect()
    }

    fn pointer(&self) -> *const c_char {
        self.0.as_ref().map_or(ptr::null(), |name| name.as_ptr().cast())
    }

    fn text(&self) -> Option<&str> {
        self.0.as_ref().and_then(|name| str::from_utf8(&name[..name.len() - 1]).ok())
    }

    /// What a call has to answer that knows these names.
    fn expected(&self, known: &[&str]) -> scmk_status {
        self.expected_before(SCMK_OK, known)
    }

    /// The same of a call that looks at another argument before it looks the name up.
    fn expected_before(&self, other: scmk_status, known: &[&str]) -> scmk_status {
        match (&self.0, self.text()) {
            (None, _) => SCMK_E_NULL_ARGUMENT,
            (_, None) => SCMK_E_INVALID_ARGUMENT,
            _ if other != SCMK_OK => other,
            (_, Some(name)) if known.contains(&name) => SCMK_OK,
            _ => SCMK_E_UNKNOWN_OPTION,
        }
    }
}

fn create(input: &mut Input<'_>) {
    let wild = input.rarely(8);
    let samples = match input.byte() {
        _ if wild => input.wild_size(),
        // Enough for a second thread.
        byte @ 240.. => 17 + usize::from(byte) % 4,
        byte => 1 + usize::from(byte) % 12,
    };
    let clusters = match input.below(8) {
        7 => input.wild_size(),
        6 => 0,
        _ => 1 + input.below(samples.clamp(1, MOST_SAMPLES)),
    };
    if !wild && world(|world| world.models.len()) >= MOST_MODELS {
        return;
    }
    let mut out = Out::new(input, 1);
    // SAFETY: room for one handle, or a pointer that is refused.
    let status = unsafe { scmk_create(samples, clusters, out.pointer()) };
    let bytes = samples.checked_mul(samples).and_then(|entries| entries.checked_mul(8));
    let addressable = bytes.is_some_and(|bytes| isize::try_from(bytes).is_ok());
    let expected = match out.expected(1, 1) {
        SCMK_OK if samples == 0 || clusters > samples => SCMK_E_DIMENSION,
        SCMK_OK if !addressable || samples > u32::MAX as usize => SCMK_E_TOO_LARGE,
        refusal => refusal,
    };
    show!("create({samples}, {clusters}): {}", named(status));
    ensure!(status == expected, "create({samples}, {clusters}) answered {}", named(status));
    let Some(handle) = out.one(status == SCMK_OK) else {
        check_message("create", ptr::null_mut());
        return;
    };
    world(|world| {
        let known = world.models.iter().map(|m| m.handle).chain(world.destroyed.iter().copied());
        ensure!(known.into_iter().all(|other| other != handle), "a handle was issued twice");
    });
    if samples > MOST_SAMPLES {
        ensure!(scmk_destroy(handle) == SCMK_OK, "a large model is not destroyed");
        return;
    }
    // Threads that wait for each other are slow.
    if !input.rarely(8) && samples <= 16 {
        // SAFETY: text with a NUL.
        let status = unsafe { scmk_set_int(handle, c"threads".as_ptr(), 1) };
        ensure!(status == SCMK_OK, "one thread is refused");
    }
    world(|world| {
        world.models.push(Shadow {
            handle,
            samples,
            clusters,
            kernels: 0,
            views: Vec::new(),
            next_view: None,
            waiting: Some(false),
            fitted: None,
            busy: false,
            borrowed: Vec::new(),
            script: Vec::new(),
        });
    });
}

fn destroy(input: &mut Input<'_>) {
    let mut target = target(input);
    if target.handle.is_null() {
        target.refusal = Some(SCMK_OK);
    }
    let status = scmk_destroy(target.handle);
    if target.judge("destroy", status, &[SCMK_OK])
        && let Some(index) = target.model
    {
        world(|world| {
            world.models.remove(index);
            world.destroyed.push(target.handle);
        });
    }
}

fn option_names() -> [&'static str; TABLE.len()] {
    std::array::from_fn(|k| TABLE[k].name)
}

/// All options as text, for a model that answers.
fn options(target: &Target) -> Option<String> {
    target.refusal.is_none().then(|| {
        let mut all = String::with_capacity(512);
        for spec in TABLE {
            option_into(target, spec.name, &mut all);
            all.push(' ');
        }
        all
    })
}

fn option(target: &Target, name: &str) -> String {
    let mut text = String::new();
    option_into(target, name, &mut text);
    text
}

fn option_into(target: &Target, option: &str, text: &mut String) {
    // No allocation: all options are read again and again.
    let mut name = [0u8; 32];
    name[..option.len()].copy_from_slice(option.as_bytes());
    let mut buffer = [0u8; 64];
    let mut needed = 0;
    // SAFETY: text with a NUL, as many bytes as said, and room for one number.
    let status = unsafe {
        scmk_get_text(
            target.handle,
            name.as_ptr().cast(),
            buffer.as_mut_ptr().cast(),
            buffer.len(),
            &mut needed,
        )
    };
    let read = status == SCMK_OK && needed <= buffer.len();
    ensure!(read, "option {option} cannot be read: {}, {needed} bytes", named(status));
    text.push_str(str::from_utf8(&buffer[..needed - 1]).unwrap_or("?"));
}

fn set_option(input: &mut Input<'_>) {
    let target = target(input);
    let before = options(&target);
    let names = option_names();
    let name = Name::new(input, &names);
    let kind = names.iter().position(|known| Some(*known) == name.text()).map(|k| TABLE[k].kind);
    let how = match kind {
        Some(Kind::Real { .. }) => [0, 0, 0, 0, 1, 2][input.below(6)],
        Some(Kind::Int { .. }) => [1, 1, 1, 1, 0, 2][input.below(6)],
        _ => [2, 2, 2, 2, 0, 1][input.below(6)],
    };
    let call = ["set_real", "set_int", "set_text"][how];
    let mut other = SCMK_OK;
    // SAFETY: text with a NUL or NULL.
    let status = unsafe {
        match how {
            0 => {
                let value = input.real();
                show!("{:?} = {value:e}", name.text());
                scmk_set_real(target.handle, name.pointer(), value)
            }
            1 => {
                let value = input.whole();
                show!("{:?} = {value}", name.text());
                scmk_set_int(target.handle, name.pointer(), value)
            }
            _ => {
                let choices = match kind {
                    Some(Kind::Text { choices, .. }) => choices,
                    _ => &["1", "0", "2", " 1 ", "1e-3", "nan", "-1", "", "1.0", "inf"],
                };
                let value = Name::new(input, choices);
                other = match (&value.0, value.text()) {
                    (None, _) => SCMK_E_NULL_ARGUMENT,
                    (_, None) => SCMK_E_INVALID_ARGUMENT,
                    _ => SCMK_OK,
                };
                show!("{:?} = {:?}", name.text(), value.text());
                scmk_set_text(target.handle, name.pointer(), value.pointer())
            }
        }
    };
    let allowed: &[scmk_status] = match name.expected_before(other, &names) {
        SCMK_OK => &[SCMK_OK, SCMK_E_INVALID_ARGUMENT],
        refusal => &[refusal],
    };
    let success = target.judge(call, status, allowed);
    let after = options(&target);
    if after != before {
        ensure!(success, "a {call} that failed has changed {before:?} to {after:?}");
        target.change(|shadow| shadow.fitted = None);
    }
    target.verify();
}

fn get_option(input: &mut Input<'_>) {
    let target = target(input);
    let names = option_names();
    let name = Name::new(input, &names);
    let kind = names.iter().position(|known| Some(*known) == name.text()).map(|k| TABLE[k].kind);
    let refused = |out: scmk_status, fits: bool| match name.expected_before(out, &names) {
        SCMK_OK if !fits => SCMK_E_INVALID_ARGUMENT,
        refusal => refusal,
    };
    match input.below(3) {
        0 => {
            let mut out = Out::<f64>::new(input, 1);
            // SAFETY: text with a NUL or NULL, room for one number or a pointer that is refused.
            let status = unsafe { scmk_get_real(target.handle, name.pointer(), out.pointer()) };
            let fits = matches!(kind, Some(Kind::Real { .. } | Kind::Int { .. }));
            let success = target.judge("get_real", status, &[refused(out.expected(1, 1), fits)]);
            ensure!(out.one(success).is_none_or(f64::is_finite), "an option is not finite");
        }
        1 => {
            let mut out = Out::<i64>::new(input, 1);
            // SAFETY: as above.
            let status = unsafe { scmk_get_int(target.handle, name.pointer(), out.pointer()) };
            let fits = matches!(kind, Some(Kind::Int { .. }));
            let success = target.judge("get_int", status, &[refused(out.expected(1, 1), fits)]);
            out.one(success);
        }
        _ => {
            let expected = name.expected(&names);
            text_call(input, &target, "get_text", expected, |buffer, cap, needed| {
                // SAFETY: as above, and as many bytes as said.
                unsafe { scmk_get_text(target.handle, name.pointer(), buffer, cap, needed) }
            });
        }
    }
    target.verify();
}

/// A call that copies text into a buffer of any size.
fn text_call(
    input: &mut Input<'_>,
    target: &Target,
    call: &str,
    otherwise: scmk_status,
    make: impl FnOnce(*mut c_char, usize, *mut usize) -> scmk_status,
) -> Option<Text> {
    let cap = input.one_of(&[0, 1, 2, 5, 20, 100, 255]);
    let mut buffer = Out::<u8>::new(input, cap);
    let mut needed = Out::<usize>::new(input, 1);
    let status = make(buffer.pointer().cast(), cap, needed.pointer());
    let expected = match otherwise {
        SCMK_OK if needed.place == Place::Misaligned => SCMK_E_INVALID_ARGUMENT,
        SCMK_OK if cap > 0 && buffer.place == Place::Null => SCMK_E_NULL_ARGUMENT,
        otherwise => otherwise,
    };
    let success = target.judge(call, status, &[expected]);
    let needed = needed.one(success);
    if !success || cap == 0 {
        buffer.written(false, 0);
        return success.then(|| Text { beginning: String::new(), needed });
    }
    let end = buffer.values.iter().position(|&byte| byte == 0);
    ensure!(end.is_some(), "{call} wrote no NUL");
    let text = buffer.written(true, end.map_or(0, |end| end + 1));
    ensure!(str::from_utf8(text).is_ok(), "{call} wrote {text:?}");
    if let Some(needed) = needed {
        let whole = text.len() == needed;
        let cut = text.len() < needed && needed > cap && text.len() + 3 >= cap;
        ensure!(whole || cut, "{call} wrote {} of {needed} bytes into {cap}", text.len());
    }
    let beginning = str::from_utf8(&text[..text.len() - 1]).unwrap_or_default().to_owned();
    Some(Text { beginning, needed })
}

/// What a call wrote of a text, and how long it says that is.
struct Text {
    beginning: String,
    needed: Option<usize>,
}

impl Text {
    fn check(&self, call: &str, whole: &str) {
        let Self { beginning, needed } = self;
        ensure!(whole.starts_with(beginning.as_str()), "{call}: {beginning:?}, not {whole:?}");
        let right = needed.is_none_or(|needed| needed == whole.len() + 1);
        ensure!(right, "{call} needs {needed:?} bytes for {whole:?}");
    }
}

fn set_clusters(input: &mut Input<'_>) {
    let target = target(input);
    let clusters = match input.below(4) {
        3 => input.wild_size(),
        _ => input.below(target.samples + 2),
    };
    let status = scmk_set_clusters(target.handle, clusters);
    let expected = if clusters <= target.samples { SCMK_OK } else { SCMK_E_DIMENSION };
    if target.judge("set_clusters", status, &[expected]) {
        target.change(|shadow| {
            if clusters != shadow.clusters {
                shadow.clusters = clusters;
                shadow.fitted = None;
            }
        });
    }
    target.verify();
}

fn name_view(input: &mut Input<'_>) {
    let target = target(input);
    let mut name = Name::new(input, &["pixels", "a", "", "\u{e9}\u{1F600}", "two\nlines", "%s"]);
    if input.rarely(4)
        && let Name(Some(bytes)) = &mut name
    {
        // Around the longest that is allowed.
        let times = 250 / bytes.len().max(2) + input.below(3);
        let once = &bytes[..bytes.len() - 1];
        *bytes = once.repeat(times).into_iter().chain([0]).collect();
    }
    // SAFETY: text with a NUL or NULL.
    let status = unsafe { scmk_name_view(target.handle, name.pointer()) };
    let expected = match (&name.0, name.text()) {
        (None, _) => SCMK_OK,
        (_, Some(text)) if (1..=255).contains(&text.len()) => SCMK_OK,
        _ => SCMK_E_INVALID_ARGUMENT,
    };
    if target.judge("name_view", status, &[expected]) {
        target.change(|shadow| shadow.next_view = name.text().map(str::to_owned));
    }
    target.verify();
}

/// What messages of the model count from.
fn index_base(target: &Target) -> usize {
    match target.refusal {
        None => option(target, "index_base").parse().unwrap_or(0),
        Some(_) => 0,
    }
}

fn view_name(input: &mut Input<'_>) {
    let target = target(input);
    let view = if input.rarely(6) { input.wild_size() } else { input.below(8) };
    let base = index_base(&target);
    let shadow = |world: &mut World| world.models[target.model?].view_name(view, base);
    let name = world(shadow);
    let expected = if name.is_some() { SCMK_OK } else { SCMK_E_INVALID_ARGUMENT };
    let found = text_call(input, &target, "view_name", expected, |buffer, cap, needed| {
        // SAFETY: as many bytes as said, room for one number or pointers that are refused.
        unsafe { scmk_view_name(target.handle, view, buffer, cap, needed) }
    });
    if let Some((found, name)) = found.zip(name) {
        found.check("view_name", &name);
    }
    target.verify();
}

fn kernel_name(input: &mut Input<'_>) {
    let target = target(input);
    let kernel = if input.rarely(6) { input.wild_size() } else { input.below(32) };
    let kernel = if input.rarely(2) { kernel % target.kernels.max(1) } else { kernel };
    let base = index_base(&target);
    let shadow = |world: &mut World| world.models[target.model?].kernel_name(kernel, base);
    let name = world(shadow);
    let mut view = Out::<usize>::new(input, 1);
    let expected = match name {
        Some(_) if view.place != Place::Misaligned => SCMK_OK,
        _ => SCMK_E_INVALID_ARGUMENT,
    };
    let place = view.pointer();
    let found = text_call(input, &target, "kernel_name", expected, |buffer, cap, needed| {
        // SAFETY: as above.
        unsafe { scmk_kernel_name(target.handle, kernel, place, buffer, cap, needed) }
    });
    let number = view.one(found.is_some());
    if let Some((found, (name, view))) = found.zip(name) {
        // What auto stands for is told only when it has been found.
        if !name.contains("auto; ") {
            found.check("kernel_name", &name);
        }
        ensure!(number.is_none_or(|number| number == view), "{name} of view {number:?}");
    }
    target.verify();
}

/// Whether so many elements can be addressed.
fn addressable(length: Option<usize>) -> bool {
    length.and_then(|length| length.checked_mul(8)).is_some_and(|b| isize::try_from(b).is_ok())
}

fn add_kernel(input: &mut Input<'_>) {
    let target = target(input);
    if target.kernels >= MOST_KERNELS {
        return;
    }
    let borrow = input.rarely(2);
    let order = if input.rarely(12) { input.wild_size() } else { target.samples };
    let leading_dim = match input.below(12) {
        10 => order.wrapping_sub(1),
        11 => input.wild_size(),
        some => order.wrapping_add([0, 0, 0, 0, 0, 0, 0, 0, 1, 3][some]),
    };
    let extent = order
        .checked_sub(1)
        .and_then(|last| last.checked_mul(leading_dim))
        .and_then(|last| last.checked_add(order));
    let shape = if !addressable(order.checked_mul(order)) {
        SCMK_E_TOO_LARGE
    } else if order != target.samples
        || leading_dim < order
        || !addressable(order.checked_mul(leading_dim))
    {
        SCMK_E_DIMENSION
    } else {
        SCMK_OK
    };
    let mut values = vec![f64::NAN; 1];
    if shape == SCMK_OK {
        let Some(extent) = extent.filter(|&extent| extent <= LARGEST) else { return };
        values = vec![f64::NAN; extent];
        let square = square(input, order);
        for (j, column) in square.values.chunks_exact(order).enumerate() {
            values[j * leading_dim..][..order].copy_from_slice(column);
        }
    }
    let given = Given::new(input, values);
    show!("order {order}, leading_dim {leading_dim}, borrowed {borrow}: {:?}", given.values);
    tame(&target);
    if !has_pool(&target) {
        return;
    }
    let limits = Limits::of(&target);
    // SAFETY: the extent of the matrix can be read, or the sizes or the pointer are refused. What
    // is borrowed is kept below.
    let (status, watch, target) = run(target, false, |handle| unsafe {
        match borrow {
            true => scmk_borrow_kernel(handle, given.pointer(), order, leading_dim),
            false => scmk_add_kernel(handle, given.pointer(), order, leading_dim),
        }
    });
    let mut data =
        vec![SCMK_OK, SCMK_E_NOT_FINITE, SCMK_E_ASYMMETRIC, SCMK_E_NOT_PSD, SCMK_E_DEGENERATE];
    data.extend(limits.allowed(&watch));
    let allowed = match (given.place, shape) {
        (Place::Null, _) => &[SCMK_E_NULL_ARGUMENT][..],
        (_, SCMK_E_TOO_LARGE) => &[SCMK_E_TOO_LARGE],
        (_, SCMK_E_DIMENSION) => &[SCMK_E_DIMENSION],
        (Place::Misaligned, _) => &[SCMK_E_INVALID_ARGUMENT],
        (Place::Given, _) => &data,
    };
    if target.judge("add_kernel", status, allowed) {
        target.change(|shadow| {
            shadow.add(None);
            if borrow {
                shadow.borrowed.push(given.values);
            }
        });
    }
    target.verify();
}

fn add_features(input: &mut Input<'_>) {
    const LISTS: [&str; 18] = [
        "gaussian(t=0.1)",
        "linear",
        "gaussian; linear",
        "polynomial(a=1,b=2); gaussian(t=10)",
        "paper",
        "polynomial(a=0,b=16)",
        " Gaussian ( T = 1e-300 ) ",
        "gaussian(t=0)",
        "linear;",
        "polynomial(b=2.5)",
        "gaussian(t=1",
        "laplacian",
        "standardize; gaussian(neighbors=3)",
        "unit_rows; cosine; linear",
        "linear; tfidf",
        "auto",
        "auto; linear",
        "",
    ];
    let target = target(input);
    if target.kernels >= MOST_KERNELS {
        return;
    }
    let samples = if input.rarely(12) { input.wild_size() } else { target.samples };
    let features = if input.rarely(12) { input.wild_size() } else { 1 + input.below(5) };
    let stride = |input: &mut Input<'_>, plain: usize| match input.below(12) {
        10 => input.below(4),
        11 => input.wild_size(),
        _ => plain,
    };
    let (sample_stride, feature_stride) = match input.rarely(2) {
        false => (stride(input, features), stride(input, 1)),
        true => (stride(input, 1), stride(input, samples)),
    };
    let last = |count: usize, stride: usize| count.checked_sub(1)?.checked_mul(stride);
    let extent = last(samples, sample_stride)
        .zip(last(features, feature_stride))
        .and_then(|(a, b)| a.checked_add(b)?.checked_add(1));
    let shape = if !addressable(samples.checked_mul(features)) {
        SCMK_E_TOO_LARGE
    } else if samples != target.samples
        || features == 0
        || samples > 1 && sample_stride == 0
        || features > 1 && feature_stride == 0
        || !addressable(extent)
    {
        SCMK_E_DIMENSION
    } else {
        SCMK_OK
    };
    let mut values = vec![f64::NAN; 1];
    if shape == SCMK_OK {
        let Some(extent) = extent.filter(|&extent| extent <= LARGEST) else { return };
        let palette: Vec<f64> = (0..1 + input.below(12)).map(|_| input.real()).collect();
        let steps = 1 + input.below(7);
        values = (0..extent).map(|k| palette[k * steps % palette.len()]).collect();
    }
    let given = Given::new(input, values);
    let list = Name::new(input, &LISTS);
    show!("{samples} x {features}, strides {sample_stride} {feature_stride}: {:?}", given.values);
    show!("{:?}", list.text());
    tame(&target);
    if !has_pool(&target) {
        return;
    }
    let limits = Limits::of(&target);
    // SAFETY: the extent of the features can be read, or the sizes or the pointer are refused.
    let (status, watch, target) = run(target, false, |handle| unsafe {
        scmk_add_features(
            handle,
            given.pointer(),
            samples,
            features,
            sample_stride,
            feature_stride,
            list.pointer(),
        )
    });
    let mut data = vec![
        SCMK_OK,
        SCMK_E_NOT_FINITE,
        SCMK_E_DEGENERATE,
        // Of the list.
        SCMK_E_INVALID_ARGUMENT,
        SCMK_E_UNKNOWN_OPTION,
    ];
    data.extend(limits.allowed(&watch));
    let allowed = match (&list.0, list.text(), given.place, shape) {
        (Some(_), None, ..) => &[SCMK_E_INVALID_ARGUMENT][..],
        (_, _, Place::Null, _) => &[SCMK_E_NULL_ARGUMENT],
        (_, _, _, SCMK_E_TOO_LARGE) => &[SCMK_E_TOO_LARGE],
        (_, _, _, SCMK_E_DIMENSION) => &[SCMK_E_DIMENSION],
        (_, _, Place::Misaligned, _) => &[SCMK_E_INVALID_ARGUMENT],
        _ => &data,
    };
    if target.judge("add_features", status, allowed) {
        // No list is one too.
        let text = list.text().or(Some("").filter(|_| list.0.is_none()));
        let specs = text.and_then(|list| scmk::kernel::parse(list).ok());
        let specs = specs.unwrap_or_default().iter().map(|spec| spec.to_string()).collect();
        target.change(|shadow| shadow.add(Some(specs)));
    }
    target.verify();
}

fn clear_kernels(input: &mut Input<'_>) {
    let target = target(input);
    let status = scmk_clear_kernels(target.handle);
    if target.judge("clear_kernels", status, &[SCMK_OK]) {
        target.change(|shadow| {
            shadow.kernels = 0;
            shadow.views.clear();
            shadow.fitted = None;
            shadow.borrowed.clear();
        });
    }
    target.verify();
}

fn set_progress(input: &mut Input<'_>) {
    let target = target(input);
    let script: Vec<u8> = match input.rarely(6) {
        true => Vec::new(),
        false => (0..1 + input.below(24)).map(|_| input.byte()).collect(),
    };
    let function: scmk_progress_fn = if script.is_empty() { None } else { Some(progress) };
    // SAFETY: the function looks at nothing through its argument.
    let status = unsafe { scmk_set_progress(target.handle, function, target.handle.cast()) };
    if target.judge("set_progress", status, &[SCMK_OK]) {
        target.change(|shadow| shadow.script = script);
    }
    target.verify();
}

/// Plays the script of its model, which makes calls on any model, its own one among them.
unsafe extern "C" fn progress(
    user: *mut c_void,
    step: *const c_char,
    iteration: i64,
    fraction: f64,
    objective: f64,
) -> i32 {
    // SAFETY: the library promises a static text.
    let step = unsafe { CStr::from_ptr(step) }.to_str().unwrap_or("?");
    let steps = ["similarity", "embedding", "weights", "labels", "iteration"];
    ensure!((0.0..=1.0).contains(&fraction), "fraction {fraction}");
    let script = world(|world| {
        // On any other thread there would be no call.
        let Some(watch) = world.running.last_mut() else {
            scmk_fuzz::fail("progress on another thread", file!(), line!())
        };
        ensure!(watch.handle.cast() == user, "progress with another argument");
        // A fit on a machine that is busy may be asked before it has begun with anything.
        let known = step == "kernels" && iteration == 0 || watch.fits && steps.contains(&step);
        ensure!(known, "step {step} {iteration}");
        ensure!(iteration >= watch.iteration, "iteration {iteration} after {}", watch.iteration);
        ensure!(step != "iteration" || iteration > watch.iteration, "iteration {iteration} twice");
        ensure!((iteration == 0) == objective.is_nan(), "objective {objective} at {iteration}");
        let rises = objective > watch.objective;
        ensure!(!rises, "objective {objective} after {}", watch.objective);
        watch.iteration = iteration;
        if !objective.is_nan() {
            watch.objective = objective;
        }
        let shadow = world.models.iter_mut().find(|shadow| shadow.handle == watch.handle);
        let shadow = shadow.expect("the model that is being fitted");
        let length = shadow.script.len().min(12);
        shadow.script.drain(..length).collect::<Vec<u8>>()
    });
    let mut script = Input::new(&script);
    let action = script.byte();
    show!("progress: {step} {iteration} {objective}, action {action}");
    match action % 4 {
        0 => {}
        1 => world(|world| {
            let watch = world.running.last_mut().expect("seen above");
            watch.stopped.get_or_insert(iteration);
            ensure!(action >= 128 || scmk_cancel(watch.handle) == SCMK_OK, "not cancelled");
        }),
        _ => crate::step(&mut script),
    }
    i32::from(action % 4 == 1 && action >= 128)
}

/// Sets options that would make a fit long, or start many threads, to smaller values.
fn tame(target: &Target) {
    if target.refusal.is_some() {
        return;
    }
    for (name, most) in [(c"restarts", 3), (c"max_iterations", 6), (c"threads", 2)] {
        let mut value = 0;
        // SAFETY: text with a NUL, and room for one number.
        unsafe {
            ensure!(scmk_get_int(target.handle, name.as_ptr(), &mut value) == SCMK_OK, "{name:?}");
            if value > most {
                let status = scmk_set_int(target.handle, name.as_ptr(), most);
                ensure!(status == SCMK_OK, "{name:?} = {most} is refused");
                target.change(|shadow| shadow.fitted = None);
            }
        }
    }
}

/// Which limits a model has set itself.
struct Limits {
    time: bool,
    memory: bool,
}

impl Limits {
    fn of(target: &Target) -> Self {
        let set = |name| target.refusal.is_none() && option(target, name) != "0";
        Self { time: set("time_limit"), memory: set("memory_limit") }
    }

    /// What a call other than a fit may answer for them.
    fn allowed(&self, watch: &Watch) -> Vec<scmk_status> {
        let stops = self.time || watch.stopped.is_some();
        let stopped = stops.then_some(SCMK_E_STOPPED);
        stopped.into_iter().chain(self.memory.then_some(SCMK_E_OUT_OF_MEMORY)).collect()
    }
}

/// How many threads a call on the model works with; 0 if it is refused.
fn threads(target: &Target) -> usize {
    if target.refusal.is_some() {
        return 0;
    }
    match option(target, "threads").as_str() {
        "1" => 1,
        // One for each 16 samples.
        _ => target.samples.div_ceil(16),
    }
}

/// Whether a call on the model can be made now. Built for a fuzzer, the library keeps a pool for each
/// number of threads, and one whose work waits for a progress function can do no other work: a call
/// from there needs another pool.
fn has_pool(target: &Target) -> bool {
    let threads = threads(target);
    threads == 0 || world(|world| world.running.iter().all(|watch| watch.threads != threads))
}

/// Makes a call during which the progress function may make others. The target is handed back as
/// it is afterwards: other models may have been destroyed, and places have changed.
fn run(
    target: Target,
    fits: bool,
    call: impl FnOnce(Handle) -> scmk_status,
) -> (scmk_status, Watch, Target) {
    let entered = target.refusal.is_none();
    let threads = threads(&target);
    let before = world(|world| {
        let shadow = target.model.map(|index| &mut world.models[index]).filter(|_| entered);
        let waiting = shadow.map_or(Some(false), |shadow| {
            shadow.busy = true;
            shadow.waiting
        });
        world.running.push(Watch {
            handle: target.handle,
            fits,
            threads,
            uncertain: waiting.is_none(),
            iteration: 0,
            objective: f64::INFINITY,
            // A cancel that waits is for fits alone.
            stopped: (fits && waiting == Some(true)).then_some(0),
        });
        waiting
    });
    let status = call(target.handle);
    if status == SCMK_E_PANIC {
        // Here, since no more can be asked of the model.
        ensure!(false, "a panic: {}", message("a panic", ptr::null_mut()));
    }
    let watch = world(|world| world.running.pop()).expect("pushed above");
    let find = |world: &mut World| world.models.iter().position(|m| m.handle == target.handle);
    let model = world(find);
    let fitted = model.and_then(|index| world(|world| world.models[index].fitted.clone()));
    let target = Target { model, fitted, ..target };
    if entered {
        let late = watch.stopped.is_some() && status != SCMK_E_STOPPED;
        target.change(|shadow| {
            shadow.busy = false;
            shadow.waiting = match before {
                // The fit that a cancel meets uses it up.
                _ if fits => Some(false),
                // One that came too late for this call is for the next fit.
                _ if late => Some(true),
                before => before,
            };
        });
    }
    (status, watch, target)
}

fn fit(input: &mut Input<'_>) {
    let target = target(input);
    let enough = world(|world| {
        world.fits_made += usize::from(target.refusal.is_none());
        let deep = world.running.iter().filter(|watch| watch.fits).count();
        deep >= DEEPEST || world.fits_made > MOST_FITS
    });
    if enough {
        return;
    }
    tame(&target);
    if !has_pool(&target) {
        return;
    }
    let (status, watch, target) = run(target, true, |handle| scmk_fit(handle));
    let limited = Limits::of(&target).memory;
    // Kernels at the ends of the range of numbers may be refused.
    let unscaled = target.refusal.is_none();
    let mut allowed = vec![SCMK_OK, SCMK_E_NOT_PSD, SCMK_E_NO_CONVERGENCE];
    allowed.extend(limited.then_some(SCMK_E_OUT_OF_MEMORY));
    // Sums of kernels as they are may be beyond the range of numbers.
    allowed.extend(unscaled.then_some(SCMK_E_INVALID_ARGUMENT));
    if target.kernels == 0 {
        allowed = vec![SCMK_E_STATE];
    }
    if target.judge("fit", status, &allowed) {
        let method = option(&target, "method");
        let found = check_result(&target, method, &watch);
        let cold = option(&target, "warm_start") == "0";
        let before = target.fitted.as_ref().filter(|before| cold && before.complete);
        if found.complete && before.is_some_and(|before| **before != found) {
            ensure!(false, "the same fit twice, and another result");
        }
        target.change(|shadow| shadow.fitted = Some(Rc::new(found)));
    }
    target.verify();
}

/// What a fit that has just succeeded must have left.
fn check_result(target: &Target, method: String, watch: &Watch) -> Fitted {
    let Target { handle, samples, kernels, .. } = *target;
    let clusters = whole_info(handle, c"clusters").map_or(0, |clusters| clusters as usize);
    ensure!((1..=samples).contains(&clusters), "{clusters} clusters of {samples} samples");
    let iterations = whole_info(handle, c"iterations").unwrap_or(-1);
    let outcome = whole_info(handle, c"outcome").unwrap_or(-1);
    ensure!(iterations >= 0, "{iterations} iterations");
    let mut labels = vec![0; samples];
    let mut weights = vec![0.0; kernels];
    let mut trace = vec![0.0; iterations as usize];
    let mut length = 0;
    let mut objective = f64::NAN;
    // SAFETY: the lengths are those of the arrays.
    unsafe {
        let read = scmk_labels(handle, labels.as_mut_ptr(), samples) == SCMK_OK
            && scmk_weights(handle, weights.as_mut_ptr(), kernels) == SCMK_OK
            && scmk_trace(handle, trace.as_mut_ptr(), trace.len(), &mut length) == SCMK_OK;
        ensure!(read && length == trace.len(), "a result cannot be read");
        // Without an iteration there is none, but for the start of scmk.
        let expected = if iterations > 0 || method == "scmk" { SCMK_OK } else { SCMK_E_STATE };
        let status = scmk_info_real(handle, c"objective".as_ptr(), &mut objective);
        ensure!(status == expected, "the objective of {method} is {}", named(status));
        if method == "scmk" {
            let mut graph = vec![0.0; samples * samples];
            let status = scmk_similarity(handle, graph.as_mut_ptr(), graph.len());
            if status == SCMK_OK {
                check_similarity(&graph, samples);
            } else {
                let late = status == SCMK_E_STOPPED && Limits::of(target).time;
                ensure!(late, "the graph cannot be read: {}", named(status));
            }
        }
    }
    let different = check_labels(&labels, clusters);
    let complete = [SCMK_OUTCOME_CONVERGED, SCMK_OUTCOME_ITERATION_LIMIT].contains(&outcome);
    ensure!(!complete || different == clusters, "{different} of {clusters} clusters");
    let gamma = option(target, "gamma").parse().unwrap_or(f64::NAN);
    check_weights(&method, &option(target, "weighting"), gamma, &weights);
    let learned = !["kkm", "sc", "rkkm"].contains(&method.as_str());
    if !learned || option(target, "learn_weights") == "0" {
        let equal = weights.iter().all(|weight| *weight == weights[0]);
        ensure!(equal, "weights of {method} that are not learned: {weights:?}");
    }
    check_trace(&trace);
    // Without an iteration there is no objective.
    ensure!(objective.is_finite() || iterations == 0, "objective {objective}");
    if let Some(stopped) = watch.stopped {
        ensure!(
            outcome == SCMK_OUTCOME_CANCELLED,
            "outcome {outcome} of a fit of {method} that was stopped"
        );
        ensure!(watch.iteration <= stopped + 1, "went on for {} iterations", watch.iteration);
    } else {
        let nobody = outcome == SCMK_OUTCOME_CANCELLED && !watch.uncertain;
        ensure!(!nobody, "cancelled by nobody");
    }
    Fitted { method, clusters, complete, iterations, labels, objective: objective.to_bits() }
}

fn cancel(input: &mut Input<'_>) {
    let mut target = target(input);
    if target.refusal == Some(SCMK_E_BUSY) {
        // Allowed during a fit. The fit must know that it is asked to stop.
        target.refusal = Some(SCMK_OK);
        world(|world| {
            let watch = world.running.iter_mut().find(|watch| watch.handle == target.handle);
            let watch = watch.expect("it is busy");
            watch.stopped.get_or_insert(watch.iteration);
        });
    }
    let waits = target.refusal.is_none();
    let status = scmk_cancel(target.handle);
    if target.judge("cancel", status, &[SCMK_OK]) && waits {
        target.change(|shadow| shadow.waiting = Some(true));
    }
}

/// A length at, below or above what is needed.
fn length(input: &mut Input<'_>, needed: usize) -> usize {
    match input.below(8) {
        0 => needed.saturating_sub(1),
        1 => needed + 3,
        2 => 0,
        3 => input.below(20),
        _ => needed,
    }
}

/// A call that copies `needed` elements of a result.
fn copied<T: Sentinel>(
    input: &mut Input<'_>,
    target: &Target,
    call: &str,
    (exists, needed): (bool, usize),
    make: unsafe extern "C" fn(*const scmk_model, *mut T, usize) -> scmk_status,
) -> Option<Vec<T>> {
    let length = length(input, needed);
    let mut out = Out::new(input, length);
    // SAFETY: as many elements as said, or a pointer that is refused.
    let status = unsafe { make(target.handle, out.pointer(), length) };
    let expected = if exists { out.expected(length, needed) } else { SCMK_E_STATE };
    if status == SCMK_E_STOPPED && call == "similarity" && Limits::of(target).time {
        return None;
    }
    let success = target.judge(call, status, &[expected]);
    let written = out.written(success, needed);
    let found = success.then(|| written.to_vec());
    target.verify();
    found
}

fn labels(input: &mut Input<'_>) {
    let target = target(input);
    let exists = target.fitted.is_some();
    let found = copied(input, &target, "labels", (exists, target.samples), scmk_labels);
    if let Some(labels) = found {
        check_labels(&labels, target.clusters);
    }
}

fn weights(input: &mut Input<'_>) {
    let target = target(input);
    let exists = target.fitted.is_some();
    copied(input, &target, "weights", (exists, target.kernels), scmk_weights);
}

fn view_weights(input: &mut Input<'_>) {
    let target = target(input);
    let exists = target.fitted.is_some();
    let found = copied(input, &target, "view_weights", (exists, target.views), scmk_view_weights);
    if let Some(shares) = found {
        let legal = shares.iter().all(|share| (0.0..=1.0 + 1e-9).contains(share));
        let sum: f64 = shares.iter().sum();
        ensure!(legal && (sum - 1.0).abs() <= 1e-9, "shares of the views {shares:?}");
    }
}

/// Whether the result certifies something. Stopped before its first iteration was complete, it may
/// or may not: both are tried, and the library is asked.
fn certifies(target: &Target) -> bool {
    let Some(fitted) = target.fitted.as_ref().filter(|fitted| fitted.method == "scmk") else {
        return false;
    };
    let mut weights = [0.0; 2 * MOST_KERNELS];
    let mut begun = || {
        // SAFETY: the length is that of the array.
        let status =
            unsafe { scmk_certified_weights(target.handle, weights.as_mut_ptr(), weights.len()) };
        status == SCMK_OK
    };
    fitted.iterations > 0 || target.refusal.is_none() && begun()
}

fn certified_weights(input: &mut Input<'_>) {
    let target = target(input);
    let size = (certifies(&target), target.kernels);
    let found = copied(input, &target, "certified_weights", size, scmk_certified_weights);
    if let Some(weights) = found {
        check_weights("scmk", &option(&target, "weighting"), 0.5, &weights);
    }
}

fn certified_embedding(input: &mut Input<'_>) {
    let target = target(input);
    let size = (certifies(&target), target.samples * target.clusters);
    let found = copied(input, &target, "certified_embedding", size, scmk_certified_embedding);
    if let Some(p) = found {
        // Stopped at the start, nothing has pulled yet.
        if !p.iter().all(|&v: &f64| v == 0.0) {
            let pulls = option(&target, "beta") != "0" || option(&target, "adapt_beta") == "1";
            ensure!(pulls, "P where nothing pulls: {p:?}");
            check_orthonormal(&p, target.samples);
        }
    }
}

fn embedding(input: &mut Input<'_>) {
    let target = target(input);
    // The rivals have none until their first iteration is complete.
    let exists = match target.method() {
        Some("scmk") => true,
        Some("sc" | "aasc") => target.fitted.as_ref().is_some_and(|fitted| fitted.iterations > 0),
        _ => false,
    };
    let needed = target.samples * target.clusters;
    let found = copied(input, &target, "embedding", (exists, needed), scmk_embedding);
    ensure!(found.is_none_or(|p| p.iter().all(|v: &f64| v.is_finite())), "not finite");
}

fn similarity(input: &mut Input<'_>) {
    let target = target(input);
    let exists = target.method() == Some("scmk");
    let needed = target.samples * target.samples;
    copied(input, &target, "similarity", (exists, needed), scmk_similarity);
}

fn similarity_csc(input: &mut Input<'_>) {
    let target = target(input);
    let exists = target.method() == Some("scmk");
    let needed = match whole_info(target.handle, c"similarity_nnz") {
        Ok(entries) => entries as usize,
        Err(_) => 3,
    };
    let (columns, entries) = (length(input, target.samples + 1), length(input, needed));
    let mut starts = Out::<usize>::new(input, columns);
    let mut rows = Out::<usize>::new(input, entries);
    let mut values = Out::<f64>::new(input, entries);
    // SAFETY: as many elements as said, or pointers that are refused.
    let status = unsafe {
        scmk_similarity_csc(
            target.handle,
            starts.pointer(),
            columns,
            rows.pointer(),
            values.pointer(),
            entries,
        )
    };
    let wrong = [
        starts.expected(columns, target.samples + 1),
        rows.expected(entries, needed),
        values.expected(entries, needed),
    ];
    let expected = match exists {
        false => SCMK_E_STATE,
        true if columns > target.samples + 1 => SCMK_E_DIMENSION,
        true => wrong.into_iter().find(|&status| status != SCMK_OK).unwrap_or(SCMK_OK),
    };
    if status == SCMK_E_STOPPED && Limits::of(&target).time {
        return;
    }
    let success = target.judge("similarity_csc", status, &[expected]);
    let starts = starts.written(success, columns);
    let rows = rows.written(success, needed);
    let values = values.written(success, needed);
    if success {
        ensure!(starts[0] == 0 && starts[target.samples] == needed, "starts {starts:?}");
        for column in starts.windows(2) {
            ensure!(column[0] <= column[1], "starts {starts:?}");
            let rows = &rows[column[0]..column[1]];
            let rising = rows.windows(2).all(|pair| pair[0] < pair[1]);
            ensure!(rising && rows.iter().all(|&row| row < target.samples), "rows {rows:?}");
        }
        ensure!(values.iter().all(|&value| value > 0.0), "values {values:?}");
    }
    target.verify();
}

fn trace(input: &mut Input<'_>) {
    let target = target(input);
    let made = whole_info(target.handle, c"iterations").unwrap_or(2) as usize;
    let cap = length(input, made);
    let mut out = Out::<f64>::new(input, cap);
    let mut count = Out::<usize>::new(input, 1);
    // SAFETY: as many elements as said, or pointers that are refused.
    let status = unsafe { scmk_trace(target.handle, out.pointer(), cap, count.pointer()) };
    let expected = match (count.expected(1, 1), target.fitted.is_some()) {
        (_, false) => SCMK_E_STATE,
        (SCMK_OK, true) if cap > 0 => out.expected(cap, 0),
        (refusal, true) => refusal,
    };
    let success = target.judge("trace", status, &[expected]);
    ensure!(count.one(success).is_none_or(|count| count == made), "another number of iterations");
    check_trace(out.written(success, made.min(cap)));
    target.verify();
}

fn info(input: &mut Input<'_>) {
    let target = target(input);
    let names: [&str; infos::TABLE.len()] = std::array::from_fn(|k| infos::TABLE[k].name);
    let name = Name::new(input, &names);
    let early = [
        "samples",
        "clusters",
        "views",
        "kernels",
        "rescaled_kernels",
        "memory_kernels",
        "memory_required",
    ];
    let known = early.map(Some).contains(&name.text());
    let usable = known || target.fitted.is_some();
    let expected = |out: scmk_status| match name.expected_before(out, &names) {
        // Not every method has every info.
        SCMK_OK if usable && !known => vec![SCMK_OK, SCMK_E_STATE, SCMK_E_INVALID_ARGUMENT],
        SCMK_OK if known => vec![SCMK_OK],
        SCMK_OK => vec![SCMK_E_STATE, SCMK_E_INVALID_ARGUMENT],
        refusal => vec![refusal],
    };
    if input.rarely(2) {
        let mut out = Out::<f64>::new(input, 1);
        // SAFETY: text with a NUL or NULL, room for one number or a pointer that is refused.
        let status = unsafe { scmk_info_real(target.handle, name.pointer(), out.pointer()) };
        let success = target.judge("info_real", status, &expected(out.expected(1, 1)));
        out.one(success);
    } else {
        let mut out = Out::<i64>::new(input, 1);
        // SAFETY: as above.
        let status = unsafe { scmk_info_int(target.handle, name.pointer(), out.pointer()) };
        let success = target.judge("info_int", status, &expected(out.expected(1, 1)));
        ensure!(out.one(success).is_none_or(|value| value >= 0), "info {:?}", name.text());
    }
    target.verify();
}

fn info_text(input: &mut Input<'_>) {
    let target = target(input);
    let names: [&str; infos::TABLE.len()] = std::array::from_fn(|k| infos::TABLE[k].name);
    let name = Name::new(input, &names);
    let mut buffer = vec![0u8; input.below(80)];
    let mut needed = usize::MAX;
    let cap = buffer.len();
    let place = if cap == 0 { ptr::null_mut() } else { buffer.as_mut_ptr().cast() };
    // SAFETY: text with a NUL or NULL, as many bytes as said, room for one number.
    let status =
        unsafe { scmk_info_text(target.handle, name.pointer(), place, cap, &mut needed) };
    let allowed = match name.expected_before(SCMK_OK, &names) {
        SCMK_OK => vec![SCMK_OK, SCMK_E_STATE],
        refusal => vec![refusal],
    };
    let success = target.judge("info_text", status, &allowed);
    ensure!(!success || needed >= 1 && needed < 2000, "a text of {needed} bytes");
    if let Some(end) = buffer.iter().position(|&byte| byte == 0).filter(|_| success) {
        ensure!(str::from_utf8(&buffer[..end]).is_ok(), "a text that is none");
    }
    target.verify();
}

fn suggest_clusters(input: &mut Input<'_>) {
    let target = target(input);
    let (from, to) = match input.below(6) {
        0 => (0, 0),
        1 => (input.wild_size(), input.wild_size()),
        _ => (input.below(4), input.below(target.samples + 2)),
    };
    let needed = if (from, to) == (0, 0) { 0 } else { to.saturating_sub(from).saturating_add(1) };
    let len = needed.min(64);
    let mut out = Out::<f64>::new(input, len);
    tame(&target);
    if !has_pool(&target) {
        return;
    }
    // SAFETY: as many elements as said, or a pointer that is refused.
    let (status, _, target) = run(target, false, |handle| unsafe {
        scmk_suggest_clusters(handle, from, to, out.pointer(), len)
    });
    let allowed = [
        SCMK_OK,
        SCMK_E_DIMENSION,
        SCMK_E_NULL_ARGUMENT,
        SCMK_E_INVALID_ARGUMENT,
        SCMK_E_STATE,
        SCMK_E_OUT_OF_MEMORY,
        SCMK_E_NOT_PSD,
        SCMK_E_STOPPED,
    ];
    if target.judge("suggest_clusters", status, &allowed) {
        let best = whole_info(target.handle, c"suggested_clusters");
        let legal = best.is_ok_and(|best| best >= 1 && best as usize <= target.samples);
        ensure!(legal, "{best:?} clusters suggested for {}", target.samples);
        let written = out.written(true, if len == 0 { 0 } else { needed });
        ensure!(written.iter().all(|score| !score.is_nan()), "scores {written:?}");
    }
    target.verify();
}

fn error_message(input: &mut Input<'_>) {
    let mut target = target(input);
    // NULL and a busy model are fine here, and the text is then that of the thread.
    if matches!(target.refusal, Some(SCMK_E_NULL_ARGUMENT | SCMK_E_BUSY)) {
        target.refusal = None;
        target.model = None;
        let owner = Target { handle: ptr::null_mut(), ..target };
        let handle = target.handle;
        text_call(input, &owner, "error_message", SCMK_OK, |buffer, cap, needed| {
            // SAFETY: as many bytes as said, room for one number or pointers that are refused.
            unsafe { scmk_error_message(handle, buffer, cap, needed) }
        });
        return;
    }
    // A refused buffer is noted with the thread, since the call is not one on the model.
    let handle = target.handle;
    if target.refusal.is_none() {
        target.handle = ptr::null_mut();
    }
    text_call(input, &target, "error_message", SCMK_OK, |buffer, cap, needed| {
        // SAFETY: as above.
        unsafe { scmk_error_message(handle, buffer, cap, needed) }
    });
}

fn metric(input: &mut Input<'_>) {
    let names: Vec<&str> = metrics::names().collect();
    let name = Name::new(input, &names);
    let count = input.below(24);
    let kinds = 1 + input.below(5);
    let mut draw = || (0..count).map(|_| input.below(kinds) as i32 - 1).collect::<Vec<i32>>();
    let (truth, labels) = (draw(), draw());
    let same = truth == labels;
    let (truth, labels) = (Given::new(input, truth), Given::new(input, labels));
    let told = if input.rarely(12) { usize::MAX - input.below(9) } else { count };
    let mut out = Out::<f64>::new(input, 1);
    // SAFETY: text with a NUL or NULL, as many elements as told or a number that is refused,
    // pointers that are good or refused.
    let status = unsafe {
        scmk_metric(name.pointer(), truth.pointer(), labels.pointer(), told, out.pointer())
    };
    let place = |place: Place| match place {
        Place::Null => SCMK_E_NULL_ARGUMENT,
        Place::Misaligned => SCMK_E_INVALID_ARGUMENT,
        Place::Given if told != count => SCMK_E_TOO_LARGE,
        Place::Given => SCMK_OK,
    };
    let order = [place(truth.place), place(labels.place), out.expected(1, 1)];
    let other = order.into_iter().find(|&status| status != SCMK_OK).unwrap_or(SCMK_OK);
    let expected = match name.expected_before(other, &names) {
        SCMK_OK if count == 0 => SCMK_E_DIMENSION,
        other => other,
    };
    ensure!(status == expected, "metric answered {}, not {expected}", named(status));
    if status != SCMK_OK {
        check_message("metric", ptr::null_mut());
    }
    check_metric(&name, out.one(status == SCMK_OK), same);
}

fn check_metric(name: &Name, value: Option<f64>, same: bool) {
    if let Some(value) = value {
        let least = if name.text() == Some("ari") { -1.0 } else { 0.0 };
        ensure!((least..=1.0).contains(&value), "{:?} is {value}", name.text());
        ensure!(!same || value == 1.0, "{:?} of equal labels is {value}", name.text());
    }
}

fn model_metric(input: &mut Input<'_>) {
    let target = target(input);
    let names: Vec<&str> = metrics::names().collect();
    let name = Name::new(input, &names);
    let count = if input.rarely(4) { input.below(24) } else { target.samples };
    let kinds = 1 + input.below(5);
    let mut draw = || (0..count).map(|_| input.below(kinds) as i32 - 1).collect::<Vec<i32>>();
    let (truth, labels) = (draw(), draw());
    let (truth, mut labels) = (Given::new(input, truth), Given::new(input, labels));
    // Those of the last fit.
    let own = !input.rarely(2) || labels.place == Place::Null;
    if own {
        labels.place = Place::Null;
    }
    let told = if input.rarely(12) { usize::MAX - input.below(9) } else { count };
    let mut out = Out::<f64>::new(input, 1);
    tame(&target);
    if !has_pool(&target) {
        return;
    }
    let limits = Limits::of(&target);
    // SAFETY: text with a NUL or NULL, as many elements as told or a number that is refused,
    // pointers that are good or refused.
    let (status, watch, target) = run(target, false, |handle| unsafe {
        let (truth, labels) = (truth.pointer(), labels.pointer());
        scmk_model_metric(handle, name.pointer(), truth, labels, told, out.pointer())
    });
    let place = |place: Place| match place {
        Place::Null => SCMK_E_NULL_ARGUMENT,
        Place::Misaligned => SCMK_E_INVALID_ARGUMENT,
        Place::Given if told != count => SCMK_E_TOO_LARGE,
        Place::Given => SCMK_OK,
    };
    let fitted = &target.fitted;
    let order = [
        place(truth.place),
        if own { SCMK_OK } else { place(labels.place) },
        out.expected(1, 1),
        if own && fitted.is_none() { SCMK_E_STATE } else { SCMK_OK },
    ];
    let other = order.into_iter().find(|&status| status != SCMK_OK).unwrap_or(SCMK_OK);
    let mut allowed = match name.expected_before(other, &names) {
        SCMK_OK if count == 0 || own && count != target.samples => vec![SCMK_E_DIMENSION],
        other => vec![other],
    };
    if allowed[0] == SCMK_OK {
        allowed.extend(limits.allowed(&watch));
    }
    let success = target.judge("model_metric", status, &allowed);
    let same = match (own, fitted) {
        (true, Some(fitted)) => truth.values == fitted.labels,
        _ => !own && truth.values == labels.values,
    };
    check_metric(&name, out.one(success), same);
    target.verify();
}

fn describe(input: &mut Input<'_>) {
    match input.below(4) {
        0 => {
            let index = if input.rarely(6) { input.wild_size() } else { input.below(24) };
            let [mut name, mut default, mut choices, mut doc] =
                std::array::from_fn(|_| Out::<*const c_char>::new(input, 1));
            let mut kind = Out::<i32>::new(input, 1);
            let [mut min, mut max] = std::array::from_fn(|_| Out::<f64>::new(input, 1));
            // SAFETY: room for one element each, or pointers that are refused.
            let status = unsafe {
                scmk_option_info(
                    index,
                    name.pointer(),
                    kind.pointer(),
                    default.pointer(),
                    min.pointer(),
                    max.pointer(),
                    choices.pointer(),
                    doc.pointer(),
                )
            };
            let misaligned = [default.place, choices.place, doc.place, kind.place, min.place]
                .iter()
                .chain([&max.place])
                .any(|place| *place == Place::Misaligned);
            let expected = described(index, scmk_option_count(), &name, misaligned);
            ensure!(status == expected, "option_info answered {}", named(status));
            let success = status == SCMK_OK;
            for text in [&name, &default, &choices, &doc] {
                check_text(text.one(success));
            }
            kind.one(success);
            min.one(success);
            max.one(success);
        }
        kind @ (1 | 2) => {
            let index = if input.rarely(6) { input.wild_size() } else { input.below(18) };
            let [mut name, mut doc] = std::array::from_fn(|_| Out::<*const c_char>::new(input, 1));
            let mut number = Out::<i32>::new(input, 1);
            // SAFETY: room for one element each, or pointers that are refused.
            let (status, count) = unsafe {
                if kind == 1 {
                    let status =
                        scmk_info_name(index, name.pointer(), number.pointer(), doc.pointer());
                    (status, scmk_info_count())
                } else {
                    number.place = Place::Given;
                    (scmk_metric_name(index, name.pointer(), doc.pointer()), scmk_metric_count())
                }
            };
            let misaligned = [doc.place, number.place].contains(&Place::Misaligned);
            let expected = described(index, count, &name, misaligned);
            ensure!(status == expected, "a description answered {}", named(status));
            check_text(name.one(status == SCMK_OK));
            check_text(doc.one(status == SCMK_OK));
            number.one(status == SCMK_OK && kind == 1);
        }
        _ => {
            let number = input.whole();
            check_text(Some(scmk_status_name(number as i32)));
            check_text(Some(scmk_outcome_name(number)));
            check_text(Some(scmk_version()));
            ensure!(scmk_abi_version() == SCMK_ABI_VERSION, "another ABI");
        }
    }
}

fn described(
    index: usize,
    count: usize,
    name: &Out<*const c_char>,
    misaligned: bool,
) -> scmk_status {
    match name.expected(1, 1) {
        _ if index >= count => SCMK_E_INVALID_ARGUMENT,
        SCMK_OK if misaligned => SCMK_E_INVALID_ARGUMENT,
        other => other,
    }
}

fn check_text(text: Option<*const c_char>) {
    if let Some(text) = text {
        ensure!(!text.is_null(), "no text");
        // SAFETY: the library promises a static text.
        ensure!(unsafe { CStr::from_ptr(text) }.to_str().is_ok(), "text that is not UTF-8");
    }
}
