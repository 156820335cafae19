"""What to do without names of TensorFlow's that infeed does not have."""

_BY_THEM = {
    "infeed.experimental": {
        **dict.fromkeys(("AutotuneOptions", "DistributeOptions", "OptimizationOptions", "ServiceOptions", "ThreadingOptions"),
                        "set the fields of infeed.Options()"),
        **dict.fromkeys(("DatasetInitializer", "index_table_from_dataset", "table_from_dataset"), "look values up in a dict in map"),
        **dict.fromkeys(("Optional", "get_next_as_optional"), "use next(iterator, None)"),
        **dict.fromkeys(("Reducer", "group_by_reducer"), "use Dataset.group_by_window with a reduce_func that calls reduce"),
        **dict.fromkeys(("service", "distributed_save"), "read in the process that trains; Dataset.save stores a dataset"),
        **dict.fromkeys(("copy_to_device", "prefetch_to_device"), "use Dataset.to_jax(sharding=)"),
        **dict.fromkeys(("from_variant", "to_variant", "get_structure", "get_model_proto"), "use Dataset.element_spec"),
        "SqlDataset": "use Dataset.from_generator over a cursor",
        "TFRecordWriter": "write the elements with infeed.io.TFRecordWriter",
        "enable_debug_mode": "functions that run as Python can be stepped through; Dataset.explain() says which do",
        "from_list": "use Dataset.from_tensor_slices, or Dataset.from_indexable for elements of unequal shape",
        "make_batched_features_dataset": "use infeed.TFRecordDataset(files).batch(n).map(...) with infeed.io.parse_example",
        "parse_example_dataset": "use Dataset.map with infeed.io.parse_example",
        "map_and_batch": "use Dataset.map and Dataset.batch",
        "parallel_interleave": "use Dataset.interleave",
        "shuffle_and_repeat": "use Dataset.shuffle and Dataset.repeat",
        "pad_to_cardinality": "use Dataset.concatenate with a repeated element, and Dataset.take",
    },
    "infeed": {
        **dict.fromkeys(("py_function", "numpy_function", "py_func"), "give map the function itself"),
        **dict.fromkeys(("Iterator", "NumpyIterator", "IteratorSpec"), "iter(dataset) makes an iterator"),
        "TensorShape": "shapes are tuples, such as (None, 3)",
        "ThreadingOptions": "set the fields of infeed.Options().threading",
        "data": "what is in tf.data is in infeed itself",
    },
    "infeed.Dataset": {
        **dict.fromkeys(("make_one_shot_iterator", "make_initializable_iterator"), "use iter(dataset)"),
        "batch_and_drop_remainder": "use batch(n, drop_remainder=True)",
        "fingerprint": "the state of an iterator has it",
    },
    "infeed.io": {
        **dict.fromkeys(("gfile", "matching_files", "match_filenames_once"), "use glob and os, and Dataset.list_files for patterns"),
        "SparseFeature": "use a VarLenFeature each for the indices and the values",
        **dict.fromkeys(("decode_base64", "encode_base64"), "use base64.urlsafe_b64decode and the like in map"),
        **dict.fromkeys(("decode_and_crop_jpeg", "decode_bmp", "decode_gif", "decode_image", "decode_jpeg", "decode_jxl", "decode_png",
                         "decode_webp", "encode_jpeg", "encode_png", "extract_jpeg_shape", "is_jpeg"), "use Pillow or OpenCV in map"),
        **dict.fromkeys(("decode_proto", "encode_proto", "write_graph"), "use protobuf in map"),
        **dict.fromkeys(("deserialize_many_sparse", "serialize_many_sparse", "serialize_sparse"), "use serialize_tensor for each of the three arrays"),
        "decode_compressed": "use zlib.decompress (with wbits=47, which knows gzip too) in map",
        "decode_json_example": "use json.loads in map",
        "write_file": "use open(path, 'wb')",
    },
}


def missing(owner, name):
    """The text of an AttributeError for a name that an owner, a module or "infeed.Dataset", does not have."""
    what = f"'Dataset' object has no attribute {name!r}" if owner == "infeed.Dataset" else f"module {owner!r} has no attribute {name!r}"
    found = None if name.startswith("_") else _BY_THEM[owner].get(name)
    if owner == "infeed" and found is None:
        from infeed import experimental

        found = f"infeed.experimental.{name} is there" if name in experimental.__all__ else _BY_THEM["infeed.experimental"].get(name)
    return f"{what}; {found}" if found else what
