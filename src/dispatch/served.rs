//! What is served: it can be another one from one call to the next, and stays the same during each.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::{ArcSwap, Guard};

use crate::gate::policy::Policy;
use crate::offer::Offers;
use crate::tool::registry::Registry;
use crate::tool::view::Settings;

/// Tools and what else is offered, and what holds for calls.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Served {
    /// The tools that can be called.
    pub registry: Registry,
    /// The resources and prompts that are offered.
    pub offers: Offers,
    /// Limits and text rules.
    pub settings: Settings,
    /// What judges calls.
    pub policy: Arc<Policy>,
    /// Another one with every change.
    revision: u64,
}

impl Served {
    /// No tools and no offers. Everything may run.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let policy = Arc::new(Policy::open());
        Served { registry: Registry::new(), offers: Offers::new(), settings, policy, revision: 0 }
    }

    /// What it is known by: another one with every change.
    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }
}

/// Where calls find what is served. A clone is the same place.
#[derive(Debug, Clone)]
pub struct Shelf(Arc<Place>);

#[derive(Debug)]
struct Place {
    served: ArcSwap<Served>,
    /// One change after the other: none is lost.
    changing: Mutex<()>,
}

impl Shelf {
    /// With that on it.
    #[must_use]
    pub fn new(served: Served) -> Self {
        Shelf(Arc::new(Place { served: ArcSwap::from_pointee(served), changing: Mutex::default() }))
    }

    /// What is served now.
    #[must_use]
    pub fn now(&self) -> Arc<Served> {
        self.0.served.load_full()
    }

    /// The same for a moment, which costs less.
    pub(crate) fn glance(&self) -> Guard<Arc<Served>> {
        self.0.served.load()
    }

    /// [`Shelf::change`] for a change that cannot fail.
    pub fn put(&self, put: impl FnOnce(&mut Served)) {
        let put: Result<(), Infallible> = self.change(|served| {
            put(served);
            Ok(())
        });
        match put {
            Ok(()) => {}
        }
    }

    /// Lets what `change` makes of it be served from now on; what has begun goes on with what was served before. Nothing is
    /// changed where it fails.
    ///
    /// # Errors
    /// What `change` says.
    pub fn change<T, E>(&self, change: impl FnOnce(&mut Served) -> Result<T, E>) -> Result<T, E> {
        let _changing = self.0.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut served = Served::clone(&self.glance());
        let told = change(&mut served)?;
        served.revision += 1;
        self.0.served.store(Arc::new(served));
        Ok(told)
    }
}
