# find_package(assay): the target assay::assay, which brings the folder of assay.h.
if(NOT TARGET assay::assay)
  add_library(assay::assay INTERFACE IMPORTED)
  get_filename_component(_assay_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
  set_target_properties(assay::assay PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${_assay_prefix}/include")
  unset(_assay_prefix)
endif()
