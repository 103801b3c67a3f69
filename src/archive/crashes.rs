//! Convert the crash of a recorded run into a document and back.

use serde::{Deserialize, Serialize};
use tracer::address::FileAddress;
use tracer::program::{ImageId, LeaderId};
use tracer::run::{Operand, Run};
use tracer::termination::{BadAddress, CodePlace, Crash, ImagePlace, LibraryPlace, MappedPlace, Termination};

use super::texts::{TextDocument, path, text};

/// The document of a crash.
#[derive(Serialize, Deserialize)]
pub(super) struct CrashDocument {
    signal: i32,
    instruction: CodePlaceDocument,
    back: Option<ImagePlaceDocument>,
    address: AddressDocument,
    /// The leaders of the latest events of the open calls, innermost first.
    calls: Vec<Option<u32>>,
    operand: Option<OperandDocument>,
    unwritten: u64,
}

/// An image, and an address in it.
type ImagePlaceDocument = (u16, u64);

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum CodePlaceDocument {
    Program(ImagePlaceDocument),
    Library { file: TextDocument, address: u64 },
    Made(u64),
    Astray,
    Any,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum AddressDocument {
    None,
    FirstPage(u64),
    Image(ImagePlaceDocument),
    Stack(i64),
    Mapped(u64),
    MappedAnywhere,
    Unmapped,
    BeyondStack,
    NotCanonical,
    Forbidden,
}

#[derive(Serialize, Deserialize)]
struct OperandDocument {
    name: String,
    /// A pointer and its value.
    pointer: Option<(String, String)>,
    is_written: bool,
}

impl CrashDocument {
    /// Creates the document from the crash of a run.
    pub(super) fn new(crash: &Crash, run: &Run) -> CrashDocument {
        let operand = run.operand.clone().map(|Operand { name, pointer, is_written }| OperandDocument {
            name,
            pointer,
            is_written,
        });
        CrashDocument {
            signal: crash.signal,
            instruction: code_document(&crash.instruction),
            back: crash.back.map(image_document),
            address: address_document(crash.address),
            calls: crash.calls.iter().map(|leader| leader.map(|leader| leader.0)).collect(),
            operand,
            unwritten: run.unwritten,
        }
    }

    /// Returns the run with this crash as its end.
    pub(super) fn run(self, run: Run) -> Run {
        let CrashDocument { signal, instruction, back, address, calls, operand, unwritten } = self;
        let crash = Crash {
            signal,
            instruction: code_place(instruction),
            back: back.map(image_place),
            address: bad_address(address),
            calls: calls.into_iter().map(|leader| leader.map(LeaderId)).collect(),
        };
        let operand = operand.map(|OperandDocument { name, pointer, is_written }| Operand {
            name,
            pointer,
            is_written,
        });
        Run { termination: Termination::Crashed(crash), operand, unwritten, ..run }
    }
}

fn image_document(place: ImagePlace) -> ImagePlaceDocument {
    (place.image.0, place.address.0)
}

fn image_place((image, address): ImagePlaceDocument) -> ImagePlace {
    ImagePlace { image: ImageId(image), address: FileAddress(address) }
}

fn code_document(place: &CodePlace) -> CodePlaceDocument {
    match place {
        CodePlace::Program(place) => CodePlaceDocument::Program(image_document(*place)),
        CodePlace::Library(LibraryPlace { file, address }) => {
            CodePlaceDocument::Library { file: text(file.as_os_str()), address: address.0 }
        }
        CodePlace::Made(address) => CodePlaceDocument::Made(*address),
        CodePlace::Astray => CodePlaceDocument::Astray,
        CodePlace::Any => CodePlaceDocument::Any,
    }
}

fn code_place(document: CodePlaceDocument) -> CodePlace {
    match document {
        CodePlaceDocument::Program(place) => CodePlace::Program(image_place(place)),
        CodePlaceDocument::Library { file, address } => {
            CodePlace::Library(LibraryPlace { file: path(file), address: FileAddress(address) })
        }
        CodePlaceDocument::Made(address) => CodePlace::Made(address),
        CodePlaceDocument::Astray => CodePlace::Astray,
        CodePlaceDocument::Any => CodePlace::Any,
    }
}

fn address_document(address: BadAddress) -> AddressDocument {
    match address {
        BadAddress::None => AddressDocument::None,
        BadAddress::FirstPage(address) => AddressDocument::FirstPage(address),
        BadAddress::Mapped(MappedPlace::Image(place)) => AddressDocument::Image(image_document(place)),
        BadAddress::Mapped(MappedPlace::Stack(below)) => AddressDocument::Stack(below),
        BadAddress::Mapped(MappedPlace::Other(address)) => AddressDocument::Mapped(address),
        BadAddress::Mapped(MappedPlace::Anywhere) => AddressDocument::MappedAnywhere,
        BadAddress::Unmapped => AddressDocument::Unmapped,
        BadAddress::BeyondStack => AddressDocument::BeyondStack,
        BadAddress::NotCanonical => AddressDocument::NotCanonical,
        BadAddress::Forbidden => AddressDocument::Forbidden,
    }
}

fn bad_address(document: AddressDocument) -> BadAddress {
    match document {
        AddressDocument::None => BadAddress::None,
        AddressDocument::FirstPage(address) => BadAddress::FirstPage(address),
        AddressDocument::Image(place) => BadAddress::Mapped(MappedPlace::Image(image_place(place))),
        AddressDocument::Stack(below) => BadAddress::Mapped(MappedPlace::Stack(below)),
        AddressDocument::Mapped(address) => BadAddress::Mapped(MappedPlace::Other(address)),
        AddressDocument::MappedAnywhere => BadAddress::Mapped(MappedPlace::Anywhere),
        AddressDocument::Unmapped => BadAddress::Unmapped,
        AddressDocument::BeyondStack => BadAddress::BeyondStack,
        AddressDocument::NotCanonical => BadAddress::NotCanonical,
        AddressDocument::Forbidden => BadAddress::Forbidden,
    }
}
