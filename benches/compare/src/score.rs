//! What a measurement comes to: samples taken in alternation, so that a busy machine is busy for all.

use serde::Serialize;

/// A row of the table.
#[derive(Debug, Serialize)]
pub struct Row {
    /// What is measured.
    pub title: String,
    /// Milliseconds, calls a second, KiB or bytes.
    pub unit: Unit,
    /// Everybody's scores, ours first.
    pub scores: Vec<Score>,
    /// What is asked of us here.
    pub budgets: Vec<Verdict>,
    /// Why a budget is missed, where it is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    Millis,
    PerSecond,
    Kib,
    Bytes,
}

/// How somebody did.
#[derive(Debug, Clone, Serialize)]
pub struct Score {
    pub who: String,
    /// One a round, in the order of the rounds.
    pub samples: Vec<f64>,
    /// The most memory that was in use meanwhile, in KiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_kib: Option<u64>,
    /// Why there is no sample, or none more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

/// Whether a budget is kept.
#[derive(Debug, Clone, Serialize)]
pub struct Verdict {
    pub budget: String,
    pub measured: String,
    pub kept: bool,
}

impl Score {
    pub fn new(who: &str) -> Self {
        Score { who: who.to_owned(), samples: Vec::new(), peak_kib: None, trouble: None }
    }

    pub fn failed(who: &str, trouble: impl Into<String>) -> Self {
        Score { trouble: Some(trouble.into()), ..Score::new(who) }
    }

    /// The middle of all samples, if all went well.
    pub fn median(&self) -> Option<f64> {
        if self.trouble.is_some() { None } else { median(self.samples.clone()) }
    }
}

impl Row {
    pub fn new(title: impl Into<String>, unit: Unit, scores: Vec<Score>) -> Self {
        Row { title: title.into(), unit, scores, budgets: Vec::new(), remarks: Vec::new() }
    }

    pub fn of(&self, who: &str) -> Option<&Score> {
        self.scores.iter().find(|score| score.who == who)
    }

    /// Ours by theirs, round by round, and of that the middle.
    pub fn ratio(&self, ours: &str, theirs: &str) -> Option<f64> {
        let (ours, theirs) = (self.of(ours)?, self.of(theirs)?);
        if ours.trouble.is_some() || theirs.trouble.is_some() {
            return None;
        }
        median(ours.samples.iter().zip(&theirs.samples).map(|(ours, theirs)| ours / theirs).collect())
    }

    /// Why a budget is missed, shown where one is.
    pub fn remark(&mut self, remark: impl Into<String>) {
        self.remarks.push(remark.into());
    }

    pub fn judge(&mut self, budget: impl Into<String>, measured: Option<f64>, shown: &str, kept: impl Fn(f64) -> bool) {
        let verdict = match measured {
            Some(value) => {
                Verdict { budget: budget.into(), measured: format!("{}{shown}", short(value)), kept: kept(value) }
            }
            None => Verdict { budget: budget.into(), measured: "not measured".to_owned(), kept: false },
        };
        self.budgets.push(verdict);
    }
}

pub fn median(mut samples: Vec<f64>) -> Option<f64> {
    samples.retain(|sample| sample.is_finite());
    samples.sort_by(f64::total_cmp);
    let middle = samples.len() / 2;
    match samples.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(samples[middle]),
        _ => Some(f64::midpoint(samples[middle - 1], samples[middle])),
    }
}

/// Three digits that count.
pub fn short(value: f64) -> String {
    match value.abs() {
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        v if v >= 0.1 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}
