//! What holds for any two schemas.

use proptest::prelude::*;
use serde_json::json;

use super::lines;
use crate::tool::contract::Report;
use crate::tool::contract::schemas::{Direction, compare};
use crate::tool::samples::{instance, schema};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn nothing_differs_from_itself(schema in schema()) {
        let list = json!([{"name": "t", "inputSchema": schema, "outputSchema": schema}]);
        prop_assert_eq!(lines(&list, &list), Vec::<String>::new());
    }

    /// The judge is another implementation: what it took under the old schema it takes under a compatible new one.
    #[test]
    fn compatible_means_that_old_calls_still_fit(
        old in schema(), new in schema(), values in prop::collection::vec(instance(), 24),
    ) {
        for direction in [Direction::Given, Direction::Returned] {
            let mut found = Vec::new();
            compare(direction, &old, &new, &mut Report { tool: "t", found: &mut found });
            if found.iter().any(|difference| difference.breaking) {
                continue;
            }
            let (narrow, wide) = if direction == Direction::Given { (&old, &new) } else { (&new, &old) };
            for value in &values {
                let fits = |schema| jsonschema::draft202012::is_valid(schema, value);
                prop_assert!(!fits(narrow) || fits(wide), "{} {} {}", narrow, wide, value);
            }
        }
    }
}
