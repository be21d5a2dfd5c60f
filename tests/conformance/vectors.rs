//! Recorded vectors: a program, its inputs, the exact bytes that come out.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use base64::Engine;
use serde_json::Value;

pub struct Vector {
    /// The name of the file that holds it.
    pub category: String,
    pub id: String,
    pub source: String,
    pub entry: Option<String>,
    pub overrides: Vec<(String, f64)>,
    pub workgroups: [u32; 3],
    pub buffers: Vec<Recorded>,
}

pub struct Recorded {
    pub group: u32,
    pub binding: u32,
    pub before: Bytes,
    pub after: Bytes,
}

/// As the file has them: some are a mebibyte of zeros.
#[derive(PartialEq)]
pub enum Bytes {
    Zeros(usize),
    Coded(String),
}

impl Bytes {
    fn of(json: &Value) -> Option<Bytes> {
        Some(match json {
            Value::String(text) => Bytes::Coded(text.clone()),
            other => Bytes::Zeros(usize::try_from(other["zeros"].as_u64()?).ok()?),
        })
    }

    pub fn get(&self) -> Vec<u8> {
        match self {
            Bytes::Zeros(count) => vec![0; *count],
            Bytes::Coded(text) => base64::engine::general_purpose::STANDARD
                .decode(text)
                .expect("the vectors are base64"),
        }
    }
}

impl Vector {
    fn of(category: &str, json: &Value) -> Option<Vector> {
        let word = |json: &Value| u32::try_from(json.as_u64()?).ok();
        let buffer = |json: &Value| {
            Some(Recorded {
                group: word(&json["group"])?,
                binding: word(&json["binding"])?,
                before: Bytes::of(&json["before"])?,
                after: Bytes::of(&json["after"])?,
            })
        };
        let groups = &json["workgroups"];
        Some(Vector {
            category: category.to_string(),
            id: json["id"].as_str()?.to_string(),
            source: json["wgsl"].as_str()?.to_string(),
            entry: json["entry"].as_str().map(str::to_string),
            overrides: json["constants"]
                .as_object()
                .into_iter()
                .flatten()
                .map(|(name, value)| Some((name.clone(), value.as_f64()?)))
                .collect::<Option<_>>()?,
            workgroups: [word(&groups[0])?, word(&groups[1])?, word(&groups[2])?],
            buffers: json["buffers"]
                .as_array()?
                .iter()
                .map(buffer)
                .collect::<Option<_>>()?,
        })
    }

    /// Whether there is a byte to compare that the program wrote.
    pub fn changes(&self) -> bool {
        self.buffers.iter().any(|b| b.before.get() != b.after.get())
    }

    /// Equal for vectors of one program.
    pub fn program(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.source, &self.entry).hash(&mut hasher);
        for (name, value) in &self.overrides {
            (name, value.to_bits()).hash(&mut hasher);
        }
        hasher.finish()
    }
}

/// `VYRE_CONFORMANCE_DIR`, or the folder beside the repository.
pub fn folder() -> PathBuf {
    std::env::var_os("VYRE_CONFORMANCE_DIR").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/conformance"),
        PathBuf::from,
    )
}

/// All vectors of a folder; none if it has none. A damaged file is an error that names the line.
pub fn read(folder: &Path) -> Result<Vec<Vector>, String> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Ok(Vec::new());
    };
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.to_string_lossy().ends_with(".jsonl.gz"))
        .collect();
    files.sort();
    let mut vectors = Vec::new();
    for path in files {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let category = name
            .trim_end_matches(".jsonl.gz")
            .trim_start_matches("cts-");
        let file = std::fs::File::open(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let lines = BufReader::new(flate2::read::MultiGzDecoder::new(file)).lines();
        for (line, number) in lines.zip(1..) {
            let at = |what: String| format!("{}:{number}: {what}", path.display());
            let line = line.map_err(|error| at(error.to_string()))?;
            let json = serde_json::from_str(&line).map_err(|error| at(error.to_string()))?;
            let vector = Vector::of(category, &json);
            vectors.push(vector.ok_or_else(|| at("not a vector".to_string()))?);
        }
    }
    Ok(vectors)
}
