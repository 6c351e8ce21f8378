//! Random schemas and values, for tests.

use proptest::prelude::*;
use serde_json::{Value, json};

/// A schema of plain keywords.
pub(crate) fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({})),
        Just(json!({"type": "boolean"})),
        Just(json!({"type": ["string", "integer"]})),
        (0..3u32, prop::option::of(2..4u32)).prop_map(|(least, most)| match most {
            Some(most) => json!({"type": "string", "minLength": least, "maxLength": most}),
            None => json!({"type": "string", "minLength": least}),
        }),
        (prop::option::of(0..3), prop::option::of(2..5)).prop_map(|(least, most)| {
            let mut schema = json!({"type": "integer"});
            least.into_iter().for_each(|least| schema["minimum"] = json!(least));
            most.into_iter().for_each(|most| schema["maximum"] = json!(most));
            schema
        }),
        prop::collection::btree_set(0..4usize, 1..4).prop_map(
            |which| json!({"enum": which.into_iter().map(|i| ["", "a", "bb", "ccc"][i]).collect::<Vec<_>>()})
        ),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            (inner.clone(), 0..2u32)
                .prop_map(|(items, least)| json!({"type": "array", "items": items, "minItems": least})),
            prop::collection::vec(inner.clone(), 1..3).prop_map(|branches| json!({"anyOf": branches})),
            inner.clone().prop_map(|others| json!({"type": "object", "additionalProperties": others})),
            prop::collection::btree_map("[abc]", (inner, any::<bool>()), 0..3).prop_map(|fields| {
                let required: Vec<&String> =
                    fields.iter().filter(|(_, (_, must))| *must).map(|(name, _)| name).collect();
                let properties: Value =
                    fields.iter().map(|(name, (schema, _))| (name.clone(), schema.clone())).collect();
                json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
            }),
        ]
    })
}

/// A value that such a schema may take or not.
pub(crate) fn instance() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        (-1..6).prop_map(Value::from),
        prop::sample::select(vec!["", "a", "bb", "ccc", "dddd"]).prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[abc]", inner, 0..3).prop_map(|fields| fields.into_iter().collect()),
        ]
    })
}
