//! Two threads and one model, in every order.

use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use loom::thread;
use scmk_loom::*;

/// A model, and the number of its like that are gone.
fn model(number: usize) -> (Handle, Arc<AtomicUsize>) {
    let dropped = Arc::new(AtomicUsize::new(0));
    (create(Model::new(number, dropped.clone())), dropped)
}

#[test]
fn one_call_at_a_time_has_the_model() {
    loom::model(|| {
        let (handle, _) = model(1);
        let other = thread::spawn(move || call(handle, |model| model.use_it()));
        let answers = [call(handle, |model| model.use_it()), other.join().unwrap()];
        assert!(answers.contains(&OK) && answers.iter().all(|a| [OK, BUSY].contains(a)));
        let calls = answers.iter().filter(|&&answer| answer == OK).count();
        assert_eq!(call(handle, |model| assert_eq!(model.uses(), calls)), OK);
        assert_eq!(destroy(handle), OK);
    });
}

#[test]
fn one_of_two_destroys_a_model_and_once() {
    loom::model(|| {
        let (handle, dropped) = model(1);
        let other = thread::spawn(move || destroy(handle));
        let answers = [destroy(handle), other.join().unwrap()];
        assert_eq!(answers.iter().filter(|&&answer| answer == OK).count(), 1);
        assert!(answers.iter().all(|a| [OK, BUSY, INVALID_HANDLE].contains(a)));
        assert_eq!(dropped.load(SeqCst), 1);
        assert_eq!(destroy(handle), INVALID_HANDLE);
    });
}

#[test]
fn a_destroyed_model_is_not_used_and_a_used_one_not_destroyed() {
    loom::model(|| {
        let (handle, dropped) = model(1);
        let other = thread::spawn(move || call(handle, |model| model.use_it()));
        let destroyed = destroy(handle);
        let called = other.join().unwrap();
        assert!([OK, BUSY, INVALID_HANDLE].contains(&called));
        assert!([OK, BUSY].contains(&destroyed));
        assert!(destroyed == OK || called == OK);
        assert_eq!(dropped.load(SeqCst), usize::from(destroyed == OK));
        if destroyed == BUSY {
            assert_eq!(destroy(handle), OK);
        }
        assert_eq!(dropped.load(SeqCst), 1);
    });
}

#[test]
fn reading_the_message_disturbs_no_call() {
    loom::model(|| {
        let (handle, _) = model(1);
        let other = thread::spawn(move || message(handle));
        assert_eq!(call(handle, |model| model.use_it()), OK);
        assert!(["", "Busy"].contains(&other.join().unwrap().unwrap().as_str()));
        assert_eq!(message(handle).unwrap(), "");
        assert_eq!(destroy(handle), OK);
    });
}

#[test]
fn cancelling_disturbs_neither_a_call_nor_the_end() {
    loom::model(|| {
        let (handle, dropped) = model(1);
        let other = thread::spawn(move || cancel(handle));
        assert_eq!(call(handle, |model| model.use_it()), OK);
        assert_eq!(destroy(handle), OK);
        assert_eq!(dropped.load(SeqCst), 1);
        assert!([OK, INVALID_HANDLE].contains(&other.join().unwrap()));
    });
}

#[test]
fn nobody_uses_a_model_after_a_panic() {
    loom::model(|| {
        let (handle, dropped) = model(1);
        let other = thread::spawn(move || panicking_call(handle));
        // Fails an assertion if it meets what the panic has spoilt.
        let called = call(handle, |model| model.use_it());
        let panicked = other.join().unwrap();
        assert!([OK, BUSY, PANIC].contains(&called));
        assert!([PANIC, BUSY].contains(&panicked));
        if panicked == PANIC {
            assert_eq!(call(handle, |model| model.use_it()), PANIC);
            assert!(message(handle).unwrap().contains("a bug"));
        }
        assert_eq!(destroy(handle), OK);
        assert_eq!(dropped.load(SeqCst), 1);
    });
}

#[test]
fn an_old_handle_never_reaches_the_next_model_in_its_place() {
    loom::model(|| {
        let (old, _) = model(1);
        let other = thread::spawn(move || {
            let called = call(old, |model| assert_eq!(model.number, 1));
            (called, cancel(old))
        });
        let destroyed = destroy(old);
        let (new, _) = model(2);
        assert!(new != old);
        assert_eq!(call(new, |model| assert_eq!(model.number, 2)), OK);
        let (called, cancelled) = other.join().unwrap();
        assert!([OK, BUSY, INVALID_HANDLE].contains(&called));
        assert!([OK, INVALID_HANDLE].contains(&cancelled));
        assert_eq!(destroy(new), OK);
        if destroyed == BUSY {
            assert_eq!(destroy(old), OK);
        }
    });
}
