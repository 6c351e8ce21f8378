//! A request to a model's server.

use std::error::Error;

use serde_json::Value;

/// Posts `body` and gives the answer. One that says no is an error with what it says.
pub fn post(url: &str, headers: &[(&str, &str)], body: &Value) -> Result<Value, Box<dyn Error>> {
    let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
    let mut request = agent.post(url);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let mut answer = request.send_json(body).map_err(|error| format!("{url}: {error}"))?;
    let status = answer.status();
    let text = answer.body_mut().read_to_string()?;
    if !status.is_success() {
        return Err(format!("{url} says {status}: {text}").into());
    }
    Ok(serde_json::from_str(&text).map_err(|error| format!("{url} answers with no JSON: {error}"))?)
}
