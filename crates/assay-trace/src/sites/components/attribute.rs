//! Whose an address is: the component by its innermost frame, the name that tells.

use super::super::gather::SiteAddress;
use super::super::image::ModuleImage;
use super::spec::ComponentSpecs;
use assay_report::sites::names::NO_SYMBOL;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// Whose some code is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CodeOwner {
    /// A component, by its place in the specification.
    Component(usize),
    /// A function that no glob fits.
    Other,
    /// Code without a name that no glob's file fits.
    Nobody,
}

/// Whose an address is, and by what name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribution {
    /// Whose.
    pub owner: CodeOwner,
    /// The function that decided; of code without a name its file and [`NO_SYMBOL`].
    pub name: Rc<str>,
}

/// Looks up addresses, each once.
pub struct Attributor<'a> {
    images: &'a [ModuleImage],
    spec: &'a ComponentSpecs,
    files: Vec<String>,
    known: HashMap<(usize, u64), Attribution>,
    by_name: HashMap<(usize, Option<String>), Option<usize>>,
    /// Globs that fitted something: component and place in its list.
    fitted: BTreeSet<(usize, usize)>,
}

impl<'a> Attributor<'a> {
    /// For the files of a trace.
    pub fn new(images: &'a [ModuleImage], spec: &'a ComponentSpecs) -> Attributor<'a> {
        let files = images.iter().map(ModuleImage::file_name).collect();
        Attributor {
            images,
            spec,
            files,
            known: HashMap::new(),
            by_name: HashMap::new(),
            fitted: BTreeSet::new(),
        }
    }

    /// Whose a place is.
    pub fn of(&mut self, place: SiteAddress) -> Attribution {
        let Some(image) = place.image else {
            return Attribution { owner: CodeOwner::Nobody, name: Rc::from("code made at run time") };
        };
        let key = (image, place.address);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let found = self.look(image, place.address);
        self.known.insert(key, found.clone());
        found
    }

    /// Whose function begins at a place: by its own names in the source and among the symbols, which may be others (aliases),
    /// whatever was inlined at its beginning.
    pub fn of_function_at(&mut self, place: SiteAddress) -> Option<CodeOwner> {
        let image = place.image?;
        let file = &self.images[image];
        let symbol = file.function(place.address).filter(|function| function.start == place.address)?;
        let frames = file.frames(place.address);
        let in_source = frames.last().and_then(|frame| frame.function.clone());
        let names = [in_source, Some(symbol.name())];
        let found = names.iter().flatten().find_map(|name| self.component(image, Some(name)));
        Some(found.map_or(CodeOwner::Other, CodeOwner::Component))
    }

    /// Whether a place is in a stub of the dynamic link.
    pub fn is_stub(&self, place: SiteAddress) -> bool {
        place.image.is_some_and(|image| self.images[image].stub(place.address).is_some())
    }

    fn look(&mut self, image: usize, address: u64) -> Attribution {
        let images = self.images;
        let file = &images[image];
        let mut names: Vec<String> =
            file.frames(address).into_iter().filter_map(|frame| frame.function).collect();
        if let Some(function) = file.function(address) {
            names.push(function.name());
        } else if let Some(stub) = file.stub(address) {
            names.push(format!("{}@plt", stub.function));
        }
        for name in &names {
            if let Some(at) = self.component(image, Some(name)) {
                return Attribution { owner: CodeOwner::Component(at), name: Rc::from(name.as_str()) };
            }
        }
        match names.into_iter().next() {
            Some(name) => Attribution { owner: CodeOwner::Other, name: Rc::from(name) },
            None => {
                let owner = self.component(image, None).map_or(CodeOwner::Nobody, CodeOwner::Component);
                Attribution { owner, name: Rc::from(format!("{} {NO_SYMBOL}", self.files[image])) }
            }
        }
    }

    fn component(&mut self, image: usize, name: Option<&str>) -> Option<usize> {
        let key = (image, name.map(str::to_owned));
        if let Some(known) = self.by_name.get(&key) {
            return *known;
        }
        let fitting = self.spec.fitting(&self.files[image], name);
        let found = fitting.first().map(|(component, _)| *component);
        self.fitted.extend(fitting);
        self.by_name.insert(key, found);
        found
    }

    /// Globs that fit nothing that was looked up: most often misspelt.
    pub fn idle(&self) -> Vec<String> {
        let globs = self.spec.components.iter().enumerate().flat_map(|(at, component)| {
            component.globs.iter().enumerate().map(move |(nth, glob)| ((at, nth), component, glob))
        });
        globs
            .filter(|(key, ..)| !self.fitted.contains(key))
            .map(|(_, component, glob)| format!("{}={}", component.name, glob.text()))
            .collect()
    }
}
